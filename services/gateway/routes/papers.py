"""The horde's public documents, and what it says of itself."""

from html import escape

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.gateway.answers import Answer, json_answer
from services.gateway.deps import VERSION, GatewayDeps
from services.gateway.documents.operations import described
from services.gateway.documents.shapes import choice, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.papers.writing import Form, as_html, plain, privacy
from services.gateway.throttle import Budget
from services.gateway.wire import review

_FORMATS = ("html", "markdown")
_HTML = (b"content-type", b"text/html; charset=utf-8")
_SAFE = (
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
    (b"x-content-type-options", b"nosniff"),
)
_HEAD = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<style>:root { color-scheme: light dark; font: 1rem/1.5 sans-serif }\n"
    "main { max-width: 42rem; margin: auto }</style>\n"
)


async def tell_privacy(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The privacy document under the policy in force."""
    form = _form(ask)
    policy = await deps.neighbours.review.get_retention_policy(review.policy_request())
    return _told(privacy(policy, deps.settings), form)


async def tell_terms(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The terms of service."""
    return _told(plain("terms", deps.settings), _form(ask))


async def tell_sponsors(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Who pays for this horde."""
    return _told(plain("sponsors", deps.settings), _form(ask))


async def service_info(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What runs here, for programs that look for a horde."""
    told = deps.settings
    found = ask.header(b"host")
    place = (told.url or (f"http://{found}" if found else "")).rstrip("/")
    return json_answer(
        {
            "version": "0.2",
            "software": {
                "name": told.title,
                "version": VERSION,
                "repository": told.repository,
                "homepage": place,
                "logo": f"{place}/favicon.svg",
            },
            "api": {
                "aihorde": {
                    "name": "AI Horde API",
                    "version": "2.6",
                    "base_url": f"{place}/api/v2",
                    "rel_url": "/api/v2",
                    "documentation": f"{place}/api",
                }
            },
        }
    )


def _form(ask: Exchange) -> Form:
    match ask.query().get("format") or "html":
        case "html":
            return "html"
        case "markdown":
            return "markdown"
        case _:
            raise Refusal(reasons.BAD_REQUEST, f"'format' has to be one of {', '.join(_FORMATS)}.")


def _told(markdown: str, form: Form) -> Answer:
    return json_answer({form: markdown if form == "markdown" else as_html(markdown)})


_DOCUMENTS = (
    ("privacy", tell_privacy, "What is kept of whom, and for how long."),
    ("terms", tell_terms, "What everybody agrees to who uses this horde."),
    ("sponsors", tell_sponsors, "Who pays for this horde."),
)

OPERATIONS = tuple(
    Operation(
        "GET",
        f"/v2/documents/{name}",
        handler,
        Budget.DEFAULT,
        described(
            summary,
            query={"format": choice(*_FORMATS)},
            answers={200: ref("Document")},
            refuses=[reasons.BAD_REQUEST],
        ),
    )
    for name, handler, summary in _DOCUMENTS
)


def _page(markdown: str) -> Answer:
    title = escape(markdown.partition("\n")[0].removeprefix("# "))
    page = f"{_HEAD}<title>{title}</title>\n<main>\n{as_html(markdown)}</main>\n"
    return Answer(page.encode(), headers=_SAFE, kind=_HTML)


async def privacy_page(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The privacy document, for people."""
    del ask
    policy = await deps.neighbours.review.get_retention_policy(review.policy_request())
    return _page(privacy(policy, deps.settings))


async def terms_page(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The terms of service, for people."""
    del ask
    return _page(plain("terms", deps.settings))


async def sponsors_page(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Who pays for this horde, for people."""
    del ask
    return _page(plain("sponsors", deps.settings))


OUTSIDE = (
    Operation("GET", "/.well-known/serviceinfo", service_info),
    Operation("GET", "/privacy", privacy_page),
    Operation("GET", "/terms", terms_page),
    Operation("GET", "/sponsors", sponsors_page),
)
"""Addresses that stand beside the API, so they are not in its document."""
