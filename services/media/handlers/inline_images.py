"""InlineImages: the stored bytes as data URLs, for a worker that fetches nothing."""

import asyncio
import base64
from collections.abc import Sequence

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable
from services.media.deps import Deps


async def inline_images(keys: Sequence[str], deps: Deps) -> list[str]:
    """A data URL for each key, in order. Raises Refusal (ChatImageStorageUnavailable), also for a missing object."""
    try:
        images = await asyncio.gather(*map(deps.blobs.read, keys))
    except BlobsUnavailable as away:
        deps.events.refused(reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE)
        raise Refusal(
            reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE, "The images of this job cannot be read from their store now."
        ) from away
    deps.events.inlined([len(image) for image in images])
    return await asyncio.to_thread(lambda: [_data_url(image) for image in images])


def _data_url(jpeg: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
