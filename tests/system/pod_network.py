"""The address of a service, as kube-proxy makes it out of the pods behind it."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable


@contextlib.asynccontextmanager
async def service_address(address: str, port: int, pods: Callable[[], list[str]], target: int) -> AsyncIterator[None]:
    """A service's own address, as kube-proxy makes it: each new connection goes to some ready pod, and stays there."""
    open_now: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        try:
            there, to_pod = await asyncio.open_connection(random.choice(pods()), target)
        except (OSError, IndexError):
            writer.transport.abort()
            return
        finally:
            open_now.discard(task)
        both = [asyncio.create_task(_pump(reader, to_pod)), asyncio.create_task(_pump(there, writer))]
        open_now.update(both)
        for one in both:
            one.add_done_callback(open_now.discard)

    server = await asyncio.start_server(connected, address, port)
    try:
        yield
    finally:
        server.close()
        for task in tuple(open_now):
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes on what comes, and its end."""
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        writer.transport.abort()
    finally:
        writer.close()
