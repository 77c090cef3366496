"""One public address: which methods it takes, how often, and who answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import override
from urllib.parse import parse_qsl

from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from horde.contract import limits
from services.gateway import bodies, masks
from services.gateway.answers import Answer
from services.gateway.caller import Caller, caller_of
from services.gateway.deps import GatewayDeps
from services.gateway.throttle import HEADERS, Budget
from services.gateway.validation import invalid

_PRIVATE = (b"cache-control", b"private, no-store")

_MISSING_KEY = "The API key of an account. Missing required parameter in the HTTP headers"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that is being answered."""

    scope: Scope
    receive: Receive
    caller: Caller

    def parameter(self, name: str) -> str:
        """A part of the path, by its name in the template."""
        return str(self.scope["path_params"][name])

    def query(self) -> dict[str, str]:
        """The query string; of a repeated key the last counts."""
        return dict(parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True))

    def pairs(self) -> list[tuple[str, str]]:
        """The query string, repeated keys included."""
        return parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)

    def header(self, name: bytes) -> str | None:
        """A header by its name in lower case; None without it."""
        values = [value for key, value in self.scope["headers"] if key == name]
        return values[-1].decode("latin-1") if values else None

    def has_body(self) -> bool:
        """Whether anything was sent."""
        names = dict(self.scope["headers"])
        return names.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in names

    def api_key(self) -> str:
        """The caller's key. Raises Refusal(ValidationFailed) without one: 400, not 401 (decision 13)."""
        if self.caller.api_key is None:
            raise invalid({"apikey": _MISSING_KEY})
        return self.caller.api_key

    async def body(self, limit: int = limits.MAX_CHAT_BODY_BYTES) -> bytes:
        """The body as sent. Raises as `bodies.read`."""
        return await bodies.read(self.scope, self.receive, limit)

    async def object(self, limit: int) -> dict[str, object]:
        """The body as one JSON object. Raises as `bodies.read_object`."""
        return await bodies.read_object(self.scope, self.receive, limit)


type Handler = Callable[[GatewayDeps, Exchange], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one address. `document` is its entry in the OpenAPI document."""

    method: str
    path: str
    handler: Handler
    budget: Budget = Budget.DEFAULT
    document: Mapping[str, object] = field(default_factory=dict)
    private: bool = False
    """No cache on the way may keep any answer of this address, whatever it is."""


class Endpoint:
    """All methods of one address, as an ASGI application. What goes wrong is raised: the edge answers it."""

    def __init__(self, deps: GatewayDeps, operations: Sequence[Operation]) -> None:
        self._deps = deps
        self._hops = deps.settings.proxy_trusted_hops
        self._operations = {operation.method: operation for operation in operations}
        self.is_private = any(operation.private for operation in operations)
        """Whether no answer of this address may be kept, also when its method is wrong."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        operation = self._operations["GET" if method == "HEAD" else method]
        caller = caller_of(scope, self._hops)
        await self._deps.throttle.admit(scope, caller, operation.budget, operation.path)
        ask = Exchange(scope, receive, caller)
        answer = masks.masked(await operation.handler(self._deps, ask), ask.header(masks.HEADER))
        await answer(scope, receive, send)


class NamedRoute(Route):
    """A route that leaves itself in the scope, where metrics look for its template; FastAPI does so for its own.

    Beside it it leaves the headers that every answer of its address has.
    """

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        if match is not Match.NONE:
            found["route"] = self
            if isinstance(self.endpoint, Endpoint) and self.endpoint.is_private:
                found[HEADERS] = [*scope.get(HEADERS, ()), _PRIVATE]
        return match, found


def routes(deps: GatewayDeps, operations: Sequence[Operation]) -> Sequence[Route]:
    """One route for each address, so that a wrong method is told all the right ones."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return [
        NamedRoute(path, Endpoint(deps, group), methods=[operation.method for operation in group])
        for path, group in by_path.items()
    ]
