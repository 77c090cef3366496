"""Accounts that earned enough in escrow become trusted. base-domain 2.6."""

from datetime import timedelta

from horde.rpc.loops import Loop
from horde.store import Store
from services.admission import repo
from services.admission.events import Events

_EVERY = timedelta(minutes=1)


def promotion_loops(store: Store, events: Events, threshold: int | None) -> tuple[Loop, ...]:
    """The loop, unless no threshold (whole kudos) is set: then nobody is promoted."""
    if threshold is None:
        return ()

    async def promote_all() -> None:
        for account in await repo.promotable(store, threshold * 100):
            await repo.promote(store, account)
            events.promoted(account)

    return (Loop("promotion", _EVERY, promote_all),)
