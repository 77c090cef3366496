"""Answers that have begun: how they are cut, and how they end when the process does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from horde.clock import SystemClock
from horde.live import Live
from horde.ratelimit import RateLimiter
from services.gateway.answers import Answer, StreamCut
from services.gateway.deps import GatewayDeps
from services.gateway.edge import Edge
from services.gateway.events import Events
from services.gateway.neighbours import connect
from services.gateway.openai.orphans import Orphans
from services.gateway.serving import served
from services.gateway.settings import GatewaySettings


@asynccontextmanager
async def behind_the_edge(app: ASGIApp, drain_seconds: float = 1.0) -> AsyncIterator[str]:
    """Serves one application behind the gateway's edge; gives the URL."""
    settings = GatewaySettings(redis_url="redis://127.0.0.1:1/0")
    async with AsyncExitStack() as stack:
        neighbours = connect(settings)
        stack.push_async_callback(neighbours.close)
        live = await stack.enter_async_context(Live.open(settings))
        deps = GatewayDeps.made(neighbours, SystemClock(), settings, RateLimiter(None), Orphans(live, 600), Events())
        edge = Edge(app, deps=deps, front_errors=lambda error, _: Answer(repr(error).encode(), 418))
        yield await stack.enter_async_context(served(edge, "127.0.0.1:0", drain_seconds))


def begun_and(then: Callable[[], Awaitable[Any]]) -> ASGIApp:
    """An application that sends one piece of a stream and then does something else."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await then()

    return app


async def read_all(client: httpx.AsyncClient, url: str, received: list[bytes]) -> None:
    async with client.stream("GET", url) as answer:
        async for piece in answer.aiter_bytes():
            received.append(piece)  # noqa: PERF401 - what came before a failure counts


@pytest.mark.parametrize("error", [StreamCut("told already"), ValueError("a bug")])
async def test_an_answer_that_fails_after_it_began_is_visibly_incomplete(error: Exception) -> None:
    async def fail() -> None:
        raise error

    received: list[bytes] = []
    async with behind_the_edge(begun_and(fail)) as url, httpx.AsyncClient() as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await read_all(client, url, received)
    assert received == [b"data: 1\n\n"]


async def test_errors_under_v1_are_rendered_by_the_front_also_inside_groups() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        raise ExceptionGroup("streaming wraps", [ExceptionGroup("twice", [ValueError("inner")])])

    async with behind_the_edge(app) as url, httpx.AsyncClient() as client:
        answer = await client.get(f"{url}/v1/x")
        assert (answer.status_code, answer.text) == (418, "ValueError('inner')")
        assert answer.headers["access-control-allow-origin"] == "*"
        native = await client.get(f"{url}/v2/x")
        assert (native.status_code, native.json()) == (500, {"message": "Internal Server Error"})


async def test_a_stream_that_never_ends_does_not_keep_the_process() -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    received: list[bytes] = []
    async with httpx.AsyncClient(timeout=20) as client:
        async with behind_the_edge(begun_and(hang), 1.0) as url:
            reading = asyncio.create_task(read_all(client, url, received))
            await begun.wait()
            leaving_at = monotonic()
        assert monotonic() - leaving_at < 5
        with pytest.raises(httpx.RemoteProtocolError):
            await reading
    assert received == [b"data: 1\n\n"]
