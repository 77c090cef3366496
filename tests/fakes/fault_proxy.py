"""A TCP proxy that misbehaves on command: it delays, hangs, resets and refuses, in front of a real server."""

import asyncio
import contextlib
import socket
import struct
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit, urlunsplit


class FaultProxy:
    """Forwards `127.0.0.1:port` to a real server.

    `latency` is in seconds for each chunk. `blackhole` lets bytes in and none through; `refuse` resets new connections.
    """

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self.latency = 0.0
        self.blackhole = False
        self.refuse = False
        self._upstream = (host, port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    @classmethod
    def before(cls, url: str) -> "FaultProxy":
        """A proxy in front of the server of a URL; `url(…)` then gives the same URL through it."""
        parts = urlsplit(url)
        if parts.hostname is None or parts.port is None:
            raise ValueError("the URL names no host and port")
        return cls(parts.hostname, parts.port)

    def url(self, original: str) -> str:
        """The URL of the server as reached through this proxy."""
        parts = urlsplit(original)
        login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        return urlunsplit(parts._replace(netloc=f"{login}127.0.0.1:{self.port}"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._client, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        self.reset_all()

    def reset_all(self) -> None:
        """Resets every connection: both ends see an RST, not an orderly end."""
        for writer in tuple(self._writers):
            _reset(writer)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuse:
            _reset(writer)
            return
        with contextlib.suppress(OSError):
            upstream_reader, upstream_writer = await asyncio.open_connection(*self._upstream)
            self._writers |= {writer, upstream_writer}
            try:
                await asyncio.gather(self._pump(reader, upstream_writer), self._pump(upstream_reader, writer))
            finally:
                self._writers -= {writer, upstream_writer}
                upstream_writer.close()
                writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                if self.latency:
                    await asyncio.sleep(self.latency)
                while self.blackhole:  # noqa: ASYNC110 - a plain attribute is what a test wants to set
                    await asyncio.sleep(0.02)
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
        except (OSError, RuntimeError, AttributeError):
            # The peer is gone; how that is said differs between event loops (cpython#136234).
            writer.transport.abort()


def _reset(writer: asyncio.StreamWriter) -> None:
    if sock := writer.get_extra_info("socket"):
        # Lingering for zero seconds turns a close into an RST.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
