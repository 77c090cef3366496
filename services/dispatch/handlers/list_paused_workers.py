"""ListPausedWorkers: which workers wait for a moderator's decision."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import review
from services.dispatch.rules.paused_workers import PausedQuery, PausedWorker


async def list_paused_workers(query: PausedQuery, deps: Deps) -> tuple[list[PausedWorker], int]:
    """The page, and how many match in all. Raises StoreUnavailable."""
    online = deps.clock.now() - timedelta(seconds=deps.settings.worker_online_seconds)
    return await review.list_paused(deps.store, query, online=online)
