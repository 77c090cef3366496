"""The dispatch process: reads the settings, opens what it stands on, serves."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from horde.clock import SystemClock
from horde.reference import ReferenceSource
from horde.rpc.server import Service, run, serve
from horde.settings import load
from horde.store import Store
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import add_DispatchServiceServicer_to_server
from services.dispatch.addresses import Addresses
from services.dispatch.aftermath import Aftermath
from services.dispatch.deps import Deps, Reference
from services.dispatch.jail.cells import Jail
from services.dispatch.neighbours import Neighbours
from services.dispatch.schedule import every_loop
from services.dispatch.servicer import DispatchServicer
from services.dispatch.settings import DispatchSettings

_AFTERMATH_SECONDS = 0.5
"""Seconds that work after a commit gets once the last call has ended: half of what the drain leaves for closing."""


@asynccontextmanager
async def dependencies(settings: DispatchSettings, reference: Reference) -> AsyncIterator[Deps]:
    """Everything the handlers stand on, opened. Raises StartError when the database is not what this code needs."""
    clock = SystemClock()
    aftermath = Aftermath()
    async with (
        Store.open(settings, application_name="horde-dispatch") as store,
        _closing(Neighbours(settings)) as neighbours,
    ):
        await store.check_schema()
        aftermath.start()
        jail = Jail()
        try:
            yield Deps(
                jail=jail,
                store=store,
                clock=clock,
                settings=settings,
                neighbours=neighbours,
                addresses=Addresses(neighbours, clock),
                reference=reference,
                aftermath=aftermath,
            )
        finally:
            await aftermath.drain(_AFTERMATH_SECONDS)
            await jail.close()


@asynccontextmanager
async def _closing(neighbours: Neighbours) -> AsyncIterator[Neighbours]:
    try:
        yield neighbours
    finally:
        await neighbours.close()


async def _serve() -> None:
    settings = load(DispatchSettings)
    reference = ReferenceSource(settings)
    await reference.load()
    async with dependencies(settings, reference) as deps:
        service = Service(
            "dispatch",
            lambda server: add_DispatchServiceServicer_to_server(DispatchServicer(deps), server),
            "horde_pb.dispatch.v1.DispatchService",
        )
        await serve(service, settings, ready={"postgres": deps.store.ping}, loops=[*every_loop(deps), reference.loop()])


def main() -> int:
    """Serves until told to stop; the exit code."""
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
