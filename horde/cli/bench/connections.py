"""HTTP as a load generator needs it: the system shares the machine with it, so what a call costs here is kept small.

A general client costs three times as much for each call, which would be a tenth of what is measured.
"""

import asyncio
from typing import Self, cast, override
from urllib.parse import urlsplit

import httptools


class Connections:
    """Connections to one server, as many as there are calls at a time, kept open while the block runs."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._idle: list[_Connection] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._idle:
            self._idle.pop().close()

    async def call(self, method: str, path: str, headers: str, body: bytes) -> tuple[int, bytes]:
        """The status and the body of one answer. `headers`: whole lines. Raises ConnectionError when it is cut off."""
        connection = self._idle.pop() if self._idle else await self._connected()
        first = f"{method} {path} HTTP/1.1\r\nhost: {self._host}:{self._port}\r\n"
        lines = f"{first}content-length: {len(body)}\r\n{headers}\r\n"
        try:
            answer = await connection.call(lines.encode() + body)
        except BaseException:
            connection.close()
            raise
        if connection.is_open:
            self._idle.append(connection)
        return answer

    async def _connected(self) -> "_Connection":
        _, connection = await asyncio.get_running_loop().create_connection(_Connection, self._host, self._port)
        return connection


class _Connection(asyncio.Protocol):
    """One connection; one call at a time."""

    is_open = False
    _transport: asyncio.Transport
    _parser: httptools.HttpResponseParser
    _answer: "asyncio.Future[tuple[int, bytes]]"
    _body: list[bytes]

    async def call(self, request: bytes) -> tuple[int, bytes]:
        """Sends a request and waits for its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._parser, self._body = httptools.HttpResponseParser(self), []
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Ends it."""
        self._transport.close()

    def on_body(self, part: bytes) -> None:
        """Called by the parser."""
        self._body.append(part)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self.is_open = self.is_open and self._parser.should_keep_alive()
        if not self._answer.done():
            self._answer.set_result((self._parser.get_status_code(), b"".join(self._body)))

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self.is_open = cast("asyncio.Transport", transport), True

    @override
    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if hasattr(self, "_answer") and not self._answer.done():
            self._answer.set_exception(ConnectionError("the connection was closed before the answer"))
