"""The gateway's ASGI application: the native API, the OpenAI front, and what surrounds both."""

from typing import NoReturn

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp

from horde.telemetry.asgi import Observed
from services.gateway.console import pages
from services.gateway.deps import VERSION, GatewayDeps
from services.gateway.edge import Edge
from services.gateway.endpoints import NamedRoute, Operation, routes
from services.gateway.openai import errors as front_errors
from services.gateway.openai import routes as front_routes
from services.gateway.routes import (
    accounts,
    addresses,
    chat,
    document,
    filters,
    moderation,
    papers,
    shared_keys,
    statistics,
    system,
    testing,
    text,
    work,
    worker_messages,
    workers,
)

__all__ = ["GatewayDeps", "build_app"]

# The router tries them in order: what workers call all the time comes first.
OPERATIONS: tuple[Operation, ...] = (
    *work.OPERATIONS,
    *chat.OPERATIONS,
    *text.OPERATIONS,
    *system.OPERATIONS,
    *statistics.OPERATIONS,
    *accounts.OPERATIONS,
    *shared_keys.OPERATIONS,
    *testing.OPERATIONS,
    *papers.OPERATIONS,
    *moderation.OPERATIONS,
    *filters.OPERATIONS,
    *addresses.OPERATIONS,
    *worker_messages.OPERATIONS,
    *workers.OPERATIONS,
)


def build_app(deps: GatewayDeps) -> ASGIApp:
    """The application. It holds nothing that has to be started or stopped."""
    front, front_at_root = front_routes.routers(deps)
    app = FastAPI(
        title="chat-horde",
        version=VERSION,
        openapi_url=None,
        redirect_slashes=False,
        routes=[
            *routes(deps, (*OPERATIONS, *document.operations(OPERATIONS), *papers.OUTSIDE, *pages.OPERATIONS)),
            *_under("/v1", front),
            *_under("", front_at_root),
        ],
        middleware=[Middleware(Edge, deps=deps, front_errors=front_errors.render)],
        # FastAPI would answer these itself; the edge answers everything.
        exception_handlers={HTTPException: _pass_on, RequestValidationError: _pass_on},
    )
    return Observed(app)


def _under(prefix: str, router: APIRouter) -> list[NamedRoute]:
    """A router's plain routes under a prefix. FastAPI's own inclusion would not tell the metrics which was taken."""
    if any(type(route) is not Route for route in router.routes):
        raise TypeError("only plain routes can be put under a prefix")
    plain = [route for route in router.routes if isinstance(route, Route)]
    return [NamedRoute(prefix + route.path, route.endpoint, methods=route.methods) for route in plain]


async def _pass_on(request: Request, error: Exception) -> NoReturn:
    del request
    raise error
