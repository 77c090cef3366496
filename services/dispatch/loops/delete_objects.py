"""Objects whose row is gone are deleted through media; their keys stay queued until the store has deleted them.

A repeat does no harm. What the store keeps is in media's retry set as well; that may be lost with Redis, the queue not.
"""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import upkeep

_BATCH = 500
"""Keys of one call. A busy embedded store needs five seconds for as many."""


async def delete_objects(deps: Deps) -> None:
    """One pass over everything that is due. Raises Outage when media is away: the keys stay for the next pass."""
    pause = timedelta(seconds=deps.settings.cleanup_interval_seconds / 2)
    while True:
        keys = await upkeep.take_object_deletions(deps.store, amount=_BATCH, pause=pause)
        if keys:
            kept = set(await deps.neighbours.delete_objects(keys))
            await upkeep.forget_object_deletions(deps.store, [key for key in keys if key not in kept])
            events.objects_deleted(len(keys) - len(kept), kept=len(kept))
        if len(keys) < _BATCH:
            return
