"""What this process hears of: waiting jobs, with a look around when it may have missed some, and addresses put out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from horde.failures import Outage
from horde.store import Store
from horde.store.listening import ADDRESS_STANDINGS, Listener
from horde.telemetry import logs
from services.dispatch.addresses import Addresses
from services.dispatch.repo import waiting as repo
from services.dispatch.waiting_room import WaitingRoom

log = logs.get(__name__)

_LOOK_SECONDS = 1.0
"""How often the process, not each pop, looks around while it cannot hear."""


@asynccontextmanager
async def hearing(url: str, store: Store, room: WaitingRoom, addresses: Addresses) -> AsyncIterator[None]:
    """Wakes the room's pops and keeps addresses up to date while the block runs.

    `url`: Postgres itself, without a pooler between.
    """

    def heard(told: str) -> None:
        room.tell(repo.read_notice(told))

    async with (
        Listener.opened(url, ADDRESS_STANDINGS, lambda _: addresses.forget(), addresses.began),
        Listener.opened(url, repo.CHANNEL, heard, partial(_look_around, store, room)) as listener,
    ):
        looking = asyncio.create_task(_keep_looking(listener, store, room), name="look for waiting jobs")
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


async def _look_around(store: Store, room: WaitingRoom) -> None:
    """Calls a few pops for each lane in which something waits."""
    if len(room) == 0:
        return
    for notice in await repo.list_standing(store):
        room.tell(notice, passes=0)


async def _keep_looking(listener: Listener, store: Store, room: WaitingRoom) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if listener.is_listening:
            continue
        try:
            await _look_around(store, room)
        except Outage:
            # told once already, by the listener
            continue
        except Exception:
            log.exception("fault", what="look for waiting jobs")
