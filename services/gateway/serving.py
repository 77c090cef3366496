"""The HTTP server: uvicorn, told to answer JSON even to what is no HTTP, and to end when we say so."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import override

import orjson
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from horde.rpc.probes import bind

_HEADER_BYTES = 64 * 1024
"""Names and values of one request's headers together; proxies allow 8 to 32 KiB."""

_KEEP_ALIVE_SECONDS = 75
"""Longer than the 60 s for which load balancers keep an idle connection, so that they close it and not we."""

_LINGER_SECONDS = 5.0
"""How long those who keep a connection are told to let go of it before it is closed: httpx and the OpenAI SDK drop by
themselves what is idle that long. A connection that is just closed may have the next request on its way."""

_LETTING_GO = (b"connection", b"close")

_CUT = "ASGI callable returned without completing response."


@asynccontextmanager
async def served(app: ASGIApp, listen: str, drain_seconds: float) -> AsyncIterator[str]:
    """Serves `app` while the block runs; gives its URL. Leaving takes no more than `drain_seconds`.

    First every answer asks its client to leave, until all have or a quarter of the time has passed. Then no new
    connections are taken, requests under way may finish, and what still runs is cancelled.
    Raises StartError when the port is taken.
    """
    linger = min(_LINGER_SECONDS, drain_seconds / 4)
    sock = bind(listen)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(0, int(drain_seconds - linger)),
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[sock]), name="http")
    host, port = sock.getsockname()[:2]
    try:
        yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    finally:
        await server.let_go(linger)
        server.should_exit = True
        await task


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn is worth telling: who cut an answer has told it, and bad HTTP is a stranger's doing."""
    return record.levelno >= logging.WARNING and record.getMessage() not in {_CUT, _Protocol.BAD_REQUEST}


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: this process decides itself when it ends."""

    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield

    async def let_go(self, seconds: float) -> None:
        """Serves on, and closes each connection behind its next answer; returns early when none is left."""
        # The one is what each answer is given, the other what uvicorn makes that from every second.
        self.server_state.default_headers.append(_LETTING_GO)
        self.config.encoded_headers.append(_LETTING_GO)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.server_state.connections:  # noqa: ASYNC110 - uvicorn tells nobody when one is gone
                    await asyncio.sleep(0.05)


class _Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, with bounded headers and an answer that clients can read."""

    BAD_REQUEST = "Invalid HTTP request received."
    _header_bytes = 0

    @override
    def on_message_begin(self) -> None:
        self._header_bytes = 0
        super().on_message_begin()

    @override
    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > _HEADER_BYTES:
            raise ValueError("the headers are too long")

    @override
    def send_400_response(self, msg: str) -> None:
        body = orjson.dumps({"message": msg})
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\n"
            b"access-control-allow-origin: *\r\nconnection: close\r\n"
            b"content-length: %d\r\n\r\n%s" % (len(body), body)
        )
        self.transport.close()
