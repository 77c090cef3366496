"""Months of the statistics of generations: the next is made before it begins, and old ones go whole. docs/adr/0021."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.events import upkeep as events
from services.dispatch.repo import upkeep as repo


async def keep_stats_months(deps: Deps) -> None:
    """One pass. Safe in several replicas; a table that is busy is left to the next pass."""
    now = deps.clock.now()
    kept = timedelta(days=deps.settings.text_stats_retention_days)
    dropped = await repo.keep_stats_months(deps.store, now, keep_from=now - kept)
    if dropped:
        events.stats_dropped(dropped)
