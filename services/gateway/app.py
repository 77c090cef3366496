"""The gateway's ASGI application: the native API, the OpenAI front, and what surrounds both."""

import importlib
from importlib.util import find_spec
from typing import Any, NoReturn

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp

from horde.telemetry.asgi import Observed
from services.gateway.deps import VERSION, GatewayDeps
from services.gateway.edge import Edge
from services.gateway.endpoints import Operation, routes
from services.gateway.routes import accounts, chat, document, system, work

__all__ = ["GatewayDeps", "build_app"]

# The router tries them in order: what workers call all the time comes first.
OPERATIONS: tuple[Operation, ...] = (
    *work.OPERATIONS,
    *chat.OPERATIONS,
    *system.OPERATIONS,
    *accounts.OPERATIONS,
)


def build_app(deps: GatewayDeps) -> ASGIApp:
    """The application. It holds nothing that has to be started or stopped."""
    front: Any = None
    if find_spec("services.gateway.openai") is not None:
        front = importlib.import_module("services.gateway.openai.errors").render
    app = FastAPI(
        title="chat-horde",
        version=VERSION,
        openapi_url=None,
        redirect_slashes=False,
        routes=list(routes(deps, (*OPERATIONS, *document.operations(OPERATIONS)))),
        middleware=[Middleware(Edge, deps=deps, front_errors=front)],
        # FastAPI would answer these itself; the edge answers everything.
        exception_handlers={HTTPException: _pass_on, RequestValidationError: _pass_on},
    )
    if front is not None:
        app.include_router(importlib.import_module("services.gateway.openai.routes").router(deps), prefix="/v1")
    return Observed(app)


async def _pass_on(request: Request, error: Exception) -> NoReturn:
    del request
    raise error
