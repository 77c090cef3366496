"""What surrounds every HTTP request: its id, its trace, its time, by route and never by path."""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from time import perf_counter
from typing import Any

from horde.telemetry import tracing
from horde.telemetry.metrics import LONG_SECONDS, SECONDS, Gauge, Histogram, Timings

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_REQUEST_SECONDS = Histogram(
    "horde_gateway_request_seconds",
    "Time from the first byte of a request to the last of its answer.",
    ("method", "route", "status"),
    buckets=(*SECONDS, *(bound for bound in LONG_SECONDS if bound > SECONDS[-1])),
)
_IN_FLIGHT = Gauge("horde_gateway_requests_in_flight", "Requests that have begun and not ended.")

_NOWHERE = "(none)"
"""The route of a request that no route takes: paths of strangers must not become labels."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""What becomes a label; whatever else a stranger sends is `OTHER`."""

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Whose id is taken over. clients-and-front 3.8."""


class Observed:
    """An ASGI application with everything around it."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._timings: dict[tuple[str, str], Timings] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        request_id, traceparent = _ids(scope)
        tracing.adopt(traceparent or tracing.new_traceparent(), request_id)
        header = (b"x-request-id", request_id.encode("latin-1"))
        # An application that sends nothing has failed.
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        _IN_FLIGHT.inc()
        try:
            with tracing.server_span(f"HTTP {scope['method']}", traceparent) as span:
                await self._app(scope, receive, send_with_id)
                if tracing.enabled():
                    span.set_attribute("http.route", _route(scope))
                    span.set_attribute("http.request.header.x-request-id", [request_id])
                    span.set_attribute("http.response.status_code", status)
        finally:
            _IN_FLIGHT.dec()
            self._observe(scope, status, perf_counter() - started)

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        where = (method, _route(scope))
        timings = self._timings.get(where)
        if timings is None:
            timings = self._timings[where] = Timings(_REQUEST_SECONDS, *where)
        timings.observe(str(status), seconds)


def _route(scope: Scope) -> str:
    """The template of the route that took the request (`/v2/status/{id}`), which the router leaves in the scope."""
    template = getattr(scope.get("route"), "path", None)
    return template if isinstance(template, str) else _NOWHERE


def _ids(scope: Scope) -> tuple[str, str | None]:
    """The request's id, the caller's own when it is a sane one, and the trace it belongs to."""
    request_id: str | None = None
    traceparent: str | None = None
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text = value.decode("latin-1")
            if _SANE_ID.fullmatch(text):
                request_id = text
        elif name == b"traceparent":
            traceparent = value.decode("latin-1")
    return request_id or secrets.token_hex(8), traceparent
