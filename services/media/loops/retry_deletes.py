"""Deletes again what the store once would not delete. Two replicas may try the same keys: a delete can be repeated."""

from horde.contract.limits import CHAT_IMAGE_DELETE_RETRY_BATCH
from services.media.blobs import Blobs
from services.media.events import Events
from services.media.live import DeleteQueue


async def retry_deletes(blobs: Blobs, queue: DeleteQueue, events: Events) -> None:
    """One pass over up to 1000 keys. Raises LiveUnavailable."""
    keys = await queue.some(CHAT_IMAGE_DELETE_RETRY_BATCH)
    if keys:
        kept = set(await blobs.delete(keys))
        done = [key for key in keys if key not in kept]
        await queue.done(done)
        events.deleted(len(done))
    events.retry_size(await queue.size())
