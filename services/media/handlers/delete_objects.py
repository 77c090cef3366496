"""DeleteObjects: away with objects whose row is gone; what the store keeps is queued."""

import asyncio
from collections.abc import Sequence

from services.media.deleting import delete_or_queue
from services.media.deps import Deps


async def delete_objects(keys: Sequence[str], deps: Deps) -> list[str]:
    """Gives the keys that the store kept. Never refuses, and ends also when the caller is gone."""
    if not keys:
        return []
    return await asyncio.shield(deps.keep_going(delete_or_queue(keys, deps.blobs, deps.queue, deps.events)))
