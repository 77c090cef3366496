"""The addresses under /v1."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from horde.contract.refusal import Refusal
from horde.failures import Outage
from services.gateway.deps import GatewayDeps
from services.gateway.openai import completing, listing, living
from services.gateway.openai.errors import REPEATABLE, FrontError, error_of, render
from services.gateway.openai.front import Front

type Handler = Callable[[Front, Scope, Receive, Send], Awaitable[None]]


class Endpoint:
    """One address as an ASGI application. It tells every expected no; bugs are left to the gateway's edge."""

    def __init__(self, front: Front, handler: Handler) -> None:
        self._front = front
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._handler(self._front, scope, receive, noted)
        except (FrontError, Refusal, Outage) as error:
            if has_begun:
                raise
            self._note(error, scope)
            await render(error, Request(scope))(scope, receive, send)

    def _note(self, error: FrontError | Refusal | Outage, scope: Scope) -> None:
        told = error_of(error, repeatable=scope.get(REPEATABLE, False))
        route = getattr(scope.get("route"), "path", None) or "/v1"
        if isinstance(error, Outage):
            self._front.deps.events.unavailable(error, route)
        else:
            rc = told.facts.get("rc")
            self._front.deps.events.rejected(None if rc is None else str(rc), told.status, route, scope["method"])


def routers(deps: GatewayDeps) -> tuple[APIRouter, APIRouter]:
    """The front's routes, to be mounted at /v1; and those of them that stand at the root as well."""
    front = Front(deps)
    living_routes: list[BaseRoute] = [
        Route("/health", Endpoint(front, living.health), methods=["GET"]),
        Route("/ready", Endpoint(front, living.ready), methods=["GET"]),
    ]
    under_v1: list[BaseRoute] = [
        Route(completing.PATH, Endpoint(front, completing.complete), methods=["POST"]),
        Route("/models", Endpoint(front, listing.list_models), methods=["GET"]),
        Route("/models/{id:path}", Endpoint(front, listing.one_model), methods=["GET"]),
        *living_routes,
    ]
    return APIRouter(routes=under_v1, redirect_slashes=False), APIRouter(routes=living_routes, redirect_slashes=False)
