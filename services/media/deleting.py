"""Deleting objects so that none is forgotten: what the store keeps is queued, what finds no room is logged."""

from collections.abc import Sequence

from horde.live import LiveUnavailable
from services.media.blobs import Blobs
from services.media.events import Events
from services.media.live import DeleteQueue


async def delete_or_queue(keys: Sequence[str], blobs: Blobs, queue: DeleteQueue, events: Events) -> list[str]:
    """Deletes, in bulk; gives the keys that the store kept. Never raises for an outage of the store or of Redis."""
    kept = await blobs.delete(keys)
    events.deleted(len(keys) - len(kept))
    if not kept:
        return []
    try:
        left_out = await queue.add(kept)
    except LiveUnavailable as away:
        events.delete_lost(kept, away.detail)
        return kept
    events.delete_owed(len(kept) - len(left_out))
    if left_out:
        events.delete_lost(left_out, "the retry set is full")
    return kept
