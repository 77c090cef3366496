"""InlineImages: the stored bytes as data URLs, for a worker that fetches nothing."""

import asyncio
import base64
from collections.abc import Sequence

from horde.contract.chat.images import JPEG_URL
from services.media.blobs import BlobsUnavailable
from services.media.deps import Deps
from services.media.storing import unavailable


async def inline_images(keys: Sequence[str], deps: Deps) -> list[str]:
    """A data URL for each key, in order. Raises Refusal (ChatImageStorageUnavailable), also for a missing object."""
    try:
        images = await asyncio.gather(*map(deps.blobs.read, keys))
    except BlobsUnavailable as away:
        raise unavailable("The images of this job cannot be read from their store now.", deps) from away
    deps.events.inlined([len(image) for image in images])
    return await asyncio.to_thread(lambda: [data_url(image) for image in images])


def data_url(jpeg: bytes) -> str:
    """The image as a worker that fetches nothing is given it."""
    return JPEG_URL + base64.b64encode(jpeg).decode("ascii")
