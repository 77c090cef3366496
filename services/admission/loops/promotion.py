"""Accounts that earned enough in escrow become trusted. base-domain 2.6."""

from datetime import timedelta

from horde.store import Store
from services.admission import repo
from services.admission.events import Events

EVERY = timedelta(minutes=1)


class Promotion:
    """Promotes whoever meets every condition. `threshold` in whole kudos."""

    def __init__(self, store: Store, events: Events, threshold: int) -> None:
        self._store = store
        self._events = events
        self._threshold = threshold * 100

    async def run(self) -> None:
        """One pass; a repeat changes nothing."""
        for account in await repo.promotable(self._store, self._threshold):
            await repo.promote(self._store, account)
            self._events.promoted(account)
