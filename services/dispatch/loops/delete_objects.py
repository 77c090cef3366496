"""Objects whose row is gone are deleted through media; their keys stay queued until it says so.

A repeat does no harm.
"""

from services.dispatch.deps import Deps
from services.dispatch.repo import upkeep

_BATCH = 1000
"""Keys of one pass. Chat reference, Images: up to 1000 of them each tick."""


async def delete_objects(deps: Deps) -> None:
    """One batch. Raises Outage when media is away: the loop puts it off and the keys stay."""
    keys = await upkeep.list_object_deletions(deps.store, amount=_BATCH)
    if keys:
        await deps.neighbours.delete_objects(keys)
        await upkeep.forget_object_deletions(deps.store, keys)
