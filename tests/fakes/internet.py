"""An internet of one server: names have the addresses a test gives them, and every public address leads to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, override

import httpcore

type Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class Internet(httpcore.AsyncNetworkBackend):
    """Where the fetcher connects to; remembers what it was asked."""

    def __init__(self, port: int, names: dict[str, list[list[str]]]) -> None:
        self.port = port
        self._names = names
        self._machine = httpcore.AnyIOBackend()
        self.resolved: list[str] = []
        self.connected: list[tuple[str, int]] = []
        self.requests: list[bytes] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        """The next answer for this name; the last one stays."""
        self.resolved.append(host)
        answers = self._names.get(host) or [[host]]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.connected.append((host, port))
        return await self._machine.connect_tcp("127.0.0.1", self.port, timeout)


@asynccontextmanager
async def internet(answer: Answer, names: dict[str, list[list[str]]]) -> AsyncIterator[Internet]:
    """Serves every request with `answer`, which gets the request's head."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            world.requests.append(head)
            await answer(head, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    world = Internet(server.sockets[0].getsockname()[1], names)
    try:
        yield world
    finally:
        for task in tasks:
            task.cancel()
        server.close()
