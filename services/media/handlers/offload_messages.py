"""OffloadMessages: the whole messages array as one object that a worker fetches with one call."""

import asyncio
import gzip
from collections.abc import Mapping, Sequence

import orjson

from horde.contract.chat.images import image_keys_of, messages_key, with_image_urls
from horde.contract.chat.request import Message
from services.media.blobs import BlobsUnavailable, Form
from services.media.deps import Deps
from services.media.handlers.inline_images import data_url
from services.media.storing import Stored, store_all, unavailable

_GZIP_LEVEL = 6


async def offload_messages(request_id: str, messages: bytes, deps: Deps) -> str:
    """The key of the stored object. Raises Refusal (ChatImageStorageUnavailable); then it is not stored."""
    async with deps.offloads:
        array: list[Message] = orjson.loads(messages)
        images = await _images(image_keys_of(array), deps)
        form = Form("application/json", cache="no-transform")
        body = await asyncio.to_thread(_inlined, array, images)
        if deps.gzips_messages:
            packed = await asyncio.to_thread(gzip.compress, body, _GZIP_LEVEL, mtime=0)
            if len(packed) < len(body):
                form, body = Form(form.kind, cache=form.cache, encoding="gzip"), packed
        key = messages_key(request_id)
        await store_all([Stored(key, body, form)], deps)
    deps.events.messages("stored", len(body))
    return key


async def _images(keys: Sequence[str], deps: Deps) -> Mapping[str, bytes]:
    """The stored JPEGs by key."""
    try:
        return dict(zip(keys, await asyncio.gather(*map(deps.blobs.read, keys)), strict=True))
    except BlobsUnavailable as away:
        raise unavailable("The images of these messages cannot be read from their store now.", deps) from away


def _inlined(array: Sequence[Message], images: Mapping[str, bytes]) -> bytes:
    return orjson.dumps(with_image_urls(array, {key: data_url(jpeg) for key, jpeg in images.items()}))
