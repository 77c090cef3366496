"""What surrounds an HTTP request: its id, its trace and its metrics by route."""

from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.telemetry import tracing
from horde.telemetry.asgi import Message, Observed, Receive, Scope, Send


class Route:
    path = "/v2/things/{id}"


async def requested(
    headers: list[tuple[bytes, bytes]], *, route: object = Route, method: str = "GET"
) -> tuple[list[Message], list[tuple[str, str | None]]]:
    """One request through the middleware: what was sent, and the trace and request id the application saw."""
    sent: list[Message] = []
    seen: list[tuple[str, str | None]] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.append((tracing.trace_id(), tracing.request_id()))
        if route is not None:
            scope["route"] = route
        await send({"type": "http.response.start", "status": 404, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": method, "path": "/v2/things/7", "headers": headers}
    await Observed(app)(scope, receive, send)
    return sent, seen


def counted(method: str, route: str, status: str) -> float:
    labels = {"method": method, "route": route, "status": status}
    return REGISTRY.get_sample_value("horde_gateway_request_seconds_count", labels) or 0.0


async def test_the_answer_carries_the_callers_request_id() -> None:
    sent, seen = await requested([(b"x-request-id", b"mine-1")])
    assert (b"x-request-id", b"mine-1") in sent[0]["headers"]
    assert (b"a", b"b") in sent[0]["headers"]
    assert seen[0][1] == "mine-1"


@pytest.mark.parametrize("given", [b"", b"x" * 129, b"a\nb", b"a b", b"a!", "ü".encode()])
async def test_a_request_id_of_other_than_letters_digits_dots_underscores_and_dashes_is_replaced(given: bytes) -> None:
    sent, seen = await requested([(b"x-request-id", given)])
    assert seen[0][1] is not None
    assert len(seen[0][1]) == 16
    assert (b"x-request-id", seen[0][1].encode()) in sent[0]["headers"]


async def test_the_callers_trace_goes_on() -> None:
    _, seen = await requested([(b"traceparent", b"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")])
    assert seen[0][0] == "0123456789abcdef0123456789abcdef"


async def test_a_request_is_counted_by_its_route_and_never_by_its_path() -> None:
    where = [("GET", "/v2/things/{id}"), ("GET", "(none)"), ("OTHER", "(none)")]
    before = [counted(*one, "404") for one in where]
    await requested([])
    await requested([], route=None)
    await requested([], route=None, method="BREW")
    after = [counted(*one, "404") for one in where]
    assert [new - old for new, old in zip(after, before, strict=True)] == [1, 1, 1]


async def test_what_is_not_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    async def never(*_arguments: Any) -> Message:
        raise AssertionError

    await Observed(app)({"type": "lifespan"}, never, never)  # type: ignore[arg-type]  # neither is called
    assert seen == ["lifespan"]
