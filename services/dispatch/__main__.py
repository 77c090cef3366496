"""The dispatch process: reads the settings, opens what it stands on, serves."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from horde.clock import SystemClock
from horde.public_web import PublicWeb
from horde.reference import ReferenceSource
from horde.rpc.server import Service, run, serve
from horde.settings import load
from horde.store import Store
from horde.telemetry import logs
from services.dispatch.addresses import Addresses
from services.dispatch.aftermath import Aftermath
from services.dispatch.deps import Deps, Reference
from services.dispatch.hearing import hearing
from services.dispatch.jail.cells import Jail
from services.dispatch.neighbours import Neighbours
from services.dispatch.schedule import every_loop
from services.dispatch.servicer import add_to
from services.dispatch.settings import DispatchSettings
from services.dispatch.vpn_check import VpnCheck
from services.dispatch.waiting_room import WaitingRoom
from services.dispatch.webhooks import Webhooks

_AFTERMATH_SECONDS = 0.5
"""Seconds that work after a commit gets once the last call has ended: half of what the drain leaves for closing."""


@asynccontextmanager
async def dependencies(settings: DispatchSettings, reference: Reference) -> AsyncIterator[Deps]:
    """Everything the handlers stand on, opened. Raises StartError when the database is not what this code needs."""
    clock = SystemClock()
    aftermath = Aftermath()
    webhooks = Webhooks(PublicWeb(settings.webhook_allowed_hosts))
    room = WaitingRoom()
    async with (
        Store.open(settings, application_name="horde-dispatch") as store,
        _closing(Neighbours(settings)) as neighbours,
        hearing(settings.database_listen_url, store, room, addresses := Addresses(neighbours, clock)),
    ):
        await store.check_schema()
        aftermath.start()
        webhooks.start()
        jail, vpn = Jail(), VpnCheck(settings.ip_checker, settings.ip_checker_exempt)
        try:
            yield Deps(
                jail=jail,
                store=store,
                clock=clock,
                settings=settings,
                neighbours=neighbours,
                addresses=addresses,
                reference=reference,
                aftermath=aftermath,
                webhooks=webhooks,
                vpn=vpn,
                room=room,
            )
        finally:
            await asyncio.gather(aftermath.drain(_AFTERMATH_SECONDS), webhooks.drain(_AFTERMATH_SECONDS))
            await jail.close()
            await vpn.close()


@asynccontextmanager
async def _closing(neighbours: Neighbours) -> AsyncIterator[Neighbours]:
    try:
        yield neighbours
    finally:
        await neighbours.close()


async def _serve() -> None:
    settings = load(DispatchSettings)
    logs.configure(settings, "dispatch")
    reference = ReferenceSource(settings)
    await reference.load()
    async with dependencies(settings, reference) as deps:
        service = Service(
            "dispatch",
            lambda server: add_to(server, deps),
            "horde_pb.dispatch.v1.DispatchService",
        )
        loops = [*every_loop(deps), reference.loop()]
        ready = {"postgres": deps.store.ping}
        await serve(service, settings, ready=ready, loops=loops, leaving=[deps.room.close])


def main() -> int:
    """Serves until told to stop; the exit code."""
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
