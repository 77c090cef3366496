"""Serves one real servicer in this process, with everything that surrounds a handler in production."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import grpc

from horde.rpc import options
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings


@asynccontextmanager
async def served(name: str, add: Callable[[grpc.aio.Server], None]) -> AsyncIterator[Neighbour]:
    """A neighbour whose channel reaches the servicer that `add` registers."""
    server = grpc.aio.server(options=options.SERVER)
    add(cast("grpc.aio.Server", Registrar(server, Surroundings(name))))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    neighbour = Neighbour(f"127.0.0.1:{port}", name=name)
    try:
        yield neighbour
    finally:
        await neighbour.close()
        await server.stop(0)
