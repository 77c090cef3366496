"""What operators see of kudos that are held or forgiven. base-domain 12."""

from datetime import timedelta

from horde.store import Store
from services.admission import ledger_repo
from services.admission.money_events import MoneyEvents

EVERY = timedelta(minutes=1)

_MARGIN = timedelta(minutes=1)
"""A settlement takes milliseconds; one that began before this and is still under way is not counted."""


async def measure_kudos(store: Store, events: MoneyEvents) -> None:
    """One look. Each replica shows the holds; an adjustment is counted by one of them. Raises StoreUnavailable."""
    events.holds(await ledger_repo.holds(store))
    for one in await ledger_repo.adjustments(store, margin=_MARGIN):
        events.floor_adjusted(one)
