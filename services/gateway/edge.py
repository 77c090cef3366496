"""What every answer has in common: one home for two spellings of a path, the headers of 1.3, and never a bare error."""

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from horde.contract.refusal import Refusal
from horde.failures import Outage
from services.gateway import render
from services.gateway.answers import Header, StreamCut
from services.gateway.bodies import Disconnected
from services.gateway.deps import GatewayDeps
from services.gateway.throttle import HEADERS

_FRONT = "/v1"

_ALLOWED_METHODS = b"POST, GET, OPTIONS, PUT, DELETE, PATCH"
_CORS: tuple[Header, ...] = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", _ALLOWED_METHODS),
    (
        b"access-control-allow-headers",
        (
            b"Accept, Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, apikey, Client-Agent, X-Fields, "
            b"X-Forwarded-For, Proxied-For, Proxy-Authorization, Authorization, api-key, Idempotency-Key, X-Request-ID"
        ),
    ),
    (
        b"access-control-expose-headers",
        (
            b"Retry-After, Retry-After-Ms, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-ID, "
            b"X-RateLimit-Limit-Requests, X-RateLimit-Remaining-Requests, X-RateLimit-Reset-Requests, "
            b"X-Horde-Request-ID, Horde-Node, OpenAI-Processing-Ms, X-Should-Retry"
        ),
    ),
)
"""base-domain 1.3 and clients-and-front 1.6; the last two lists also hold what the front under /v1 takes and sends."""

_PREFLIGHT: tuple[Header, ...] = (
    (b"allow", _ALLOWED_METHODS),
    # A day is what browsers allow at most; the answer never changes.
    (b"access-control-max-age", b"86400"),
    (b"content-length", b"0"),
)

type FrontErrors = Callable[[Exception, Request], ASGIApp]


class Edge:
    """An ASGI application around the routes; the only place where an exception becomes an answer."""

    def __init__(self, app: ASGIApp, *, deps: GatewayDeps, front_errors: FrontErrors) -> None:
        self._app = app
        self._events = deps.events
        self._load = deps.load
        self._front_errors = front_errors
        self._headers: tuple[Header, ...] = (*_CORS, (b"horde-node", deps.node.encode("latin-1", "replace")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith("/api/v2/"):
            scope["path"] = scope["path"].removeprefix("/api")
        has_begun = False

        async def dressed(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message.get("headers", ()), *self._headers, *_own(scope, message)]
            await send(message)

        if scope["method"] == "OPTIONS":
            await _preflight(scope, dressed)
            return
        self._load.active += 1
        try:
            await self._app(scope, receive, dressed)
        except Exception as error:  # noqa: BLE001 - the last place where anything can be answered
            await self._answer(_plain(error), scope, receive, dressed if not has_begun else None)
        finally:
            self._load.active -= 1

    async def _answer(self, error: Exception, scope: Scope, receive: Receive, send: Send | None) -> None:
        """Counts or logs the error, once, and answers it. `send` None: an answer has begun, so the connection ends."""
        route = getattr(scope.get("route"), "path", None) or "unmatched"
        match error:
            case Refusal() | HTTPException():
                status = render.answer_to(error).status
                self._events.rejected(render.rc_of(error), status, route, scope["method"])
            case Outage():
                self._events.unavailable(error, route)
            case Disconnected() | StreamCut():
                pass
            case _:
                self._events.faulted(error, route)
        if send is None:
            # Returning without the end of the answer makes the server close the connection: the client sees a cut.
            return
        if scope["path"] == _FRONT or scope["path"].startswith(f"{_FRONT}/"):
            await self._front_errors(error, Request(scope))(scope, receive, send)
        else:
            await render.answer_to(error)(scope, receive, send)


def _own(scope: Scope, message: Message) -> list[Header]:
    """Headers that the throttle left for this answer. What the answer itself says of retrying wins."""
    left: list[Header] = scope.get(HEADERS, [])
    if left and any(name == b"retry-after" for name, _ in message.get("headers", ())):
        return [header for header in left if header[0] != b"retry-after"]
    return left


def _plain(error: Exception) -> Exception:
    """The one error inside the groups that streaming wraps around it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def _preflight(scope: Scope, send: Callable[[Message], Awaitable[None]]) -> None:
    """Any page may send any header: keys travel in headers, so there is no ambient authority to protect."""
    wanted = [value for name, value in scope["headers"] if name == b"access-control-request-headers"]
    headers = [*_PREFLIGHT, *((b"access-control-allow-headers", value) for value in wanted)]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
