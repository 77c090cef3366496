"""Kudos that recur: whoever is granted some each month is paid when the month is due. base-domain 2.9."""

from datetime import datetime, timedelta

from horde.clock import Clock
from horde.failures import Outage
from horde.store import Store
from services.admission import accounts_repo
from services.admission.events import Events

EVERY = timedelta(hours=1)
"""base-domain 2.9 and 10.2."""

_BATCH = 500
"""Accounts read at a time; each is paid in a transaction of its own."""


class MonthlyKudos:
    """Pays every month that is due; after a long outage each missed one. Two replicas pay a month once."""

    def __init__(self, store: Store, events: Events, clock: Clock) -> None:
        self._store = store
        self._events = events
        self._clock = clock

    async def run(self) -> None:
        """One pass; a repeat finds nothing due. A payment moves its account a month on: without any the pass ends.

        Raises what an account failed with, once the others had their turn.
        """
        now = self._clock.now()
        failed: dict[int, Exception] = {}
        while due := await accounts_repo.monthly_due(self._store, now, _BATCH):
            paid = [await self._pay(account, now, failed) for account in due if account not in failed]
            if not any(paid):
                break
        if failed:
            raise next(iter(failed.values()))

    async def _pay(self, account: int, now: datetime, failed: dict[int, Exception]) -> bool:
        """Whether a month of the account went by with this."""
        try:
            paid = await accounts_repo.pay_month(self._store, account, now)
        except Outage:
            raise
        except Exception as bug:  # noqa: BLE001 - the pass raises it
            self._events.passed_over(account, bug)
            failed[account] = bug
            return False
        if paid:
            self._events.month_paid(account, paid)
        return paid is not None
