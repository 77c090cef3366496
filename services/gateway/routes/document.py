"""The OpenAPI document and the page that shows it."""

from collections.abc import Iterable
from importlib import resources

import orjson

from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import document
from services.gateway.endpoints import Exchange, Operation

_PAGE = resources.files("services.gateway").joinpath("pages", "api.html")
_HTML = (b"content-type", b"text/html; charset=utf-8")
_SAFE = (
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
)


def operations(documented: Iterable[Operation]) -> tuple[Operation, ...]:
    """The addresses that tell of the others."""
    written = Answer(orjson.dumps(document(documented)))
    shown = Answer(_PAGE.read_bytes(), headers=_SAFE, kind=_HTML)

    async def openapi(deps: GatewayDeps, ask: Exchange) -> Answer:
        del deps, ask
        return written

    async def page(deps: GatewayDeps, ask: Exchange) -> Answer:
        del deps, ask
        return shown

    return (
        Operation("GET", "/api/openapi.json", openapi),
        # where clients of the horde look for it, base-domain 1.1
        Operation("GET", "/api/swagger.json", openapi),
        Operation("GET", "/api/", page),
        Operation("GET", "/api", page),
    )
