"""The gateway's ASGI application: the native API, the OpenAI front, and what surrounds both."""

from typing import NoReturn

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp

from horde.telemetry.asgi import Observed
from services.gateway.deps import VERSION, GatewayDeps
from services.gateway.edge import Edge
from services.gateway.endpoints import routes
from services.gateway.routes import accounts, chat, system, work

__all__ = ["GatewayDeps", "build_app"]

# The router tries them in order: what workers call all the time comes first.
OPERATIONS = (*work.OPERATIONS, *chat.OPERATIONS, *system.OPERATIONS, *accounts.OPERATIONS)


def build_app(deps: GatewayDeps) -> ASGIApp:
    """The application. It holds nothing that has to be started or stopped."""
    app = FastAPI(
        title="chat-horde",
        version=VERSION,
        openapi_url=None,
        redirect_slashes=False,
        routes=list(routes(deps, OPERATIONS)),
        middleware=[Middleware(Edge, deps=deps, front_errors=None)],
        # FastAPI would answer these itself; the edge answers everything.
        exception_handlers={HTTPException: _pass_on, RequestValidationError: _pass_on},
    )
    return Observed(app)


async def _pass_on(request: Request, error: Exception) -> NoReturn:
    del request
    raise error
