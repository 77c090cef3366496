"""Accounts that earned enough in escrow become trusted. base-domain 2.6."""

from datetime import timedelta

from horde.failures import Outage
from horde.store import Store
from services.admission import repo
from services.admission.events import Events

EVERY = timedelta(seconds=3)
"""Who has just earned enough need not wait to see it; the look is a range of one index."""


class Promotion:
    """Promotes whoever meets every condition. `threshold` in hundredths of kudos."""

    def __init__(self, store: Store, events: Events, threshold: int) -> None:
        self._store = store
        self._events = events
        self._threshold = threshold

    async def run(self) -> None:
        """One pass; a repeat changes nothing. Raises what an account failed with, once the others had their turn."""
        failed: Exception | None = None
        for account in await repo.promotable(self._store, self._threshold):
            try:
                await repo.promote(self._store, account)
            except Outage:
                raise
            except Exception as bug:  # noqa: BLE001 - it is raised below
                self._events.passed_over(account, bug)
                failed = bug
            else:
                self._events.promoted(account)
        if failed is not None:
            raise failed
