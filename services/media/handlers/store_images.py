"""StoreImages: read the sources, hold them to the caps, make JPEGs of them, store all or none."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import Form
from services.media.decoding import DecodersBusy, Image, Jpeg, TooManyPixels
from services.media.deps import Deps
from services.media.rules.image_caps import (
    RunningTotal,
    check_count,
    check_stored_total,
    too_many_pixels,
    unreadable,
)
from services.media.rules.image_sources import DataSource, ImagesAsk, Source, WebSource, read_source
from services.media.rules.object_keys import image_keys
from services.media.storing import Stored, store_all

_JPEG = Form("image/jpeg")


@dataclass(frozen=True, slots=True)
class StoredImages:
    """The keys and sizes in bytes of the stored images, in the order of the request."""

    keys: Sequence[str]
    sizes: Sequence[int]


async def store_images(ask: ImagesAsk, deps: Deps) -> StoredImages:
    """What was stored. Raises Refusal; then nothing is stored, or its delete is queued."""
    try:
        check_count(len(ask.urls))
        sources = [read_source(url, number) for number, url in enumerate(ask.urls)]
        began = deps.clock.monotonic()
        images = await _gather(ask, sources, deps)
        deps.events.took("gather", deps.clock.monotonic() - began)
        began = deps.clock.monotonic()
        jpegs = await _normalise(images, deps)
        deps.events.took("decode", deps.clock.monotonic() - began)
        check_stored_total(map(len, jpegs), ask.max_total_bytes)
    except Refusal as no:
        deps.events.refused(no.reason)
        raise
    keys = image_keys(ask.request_id, len(jpegs))
    await store_all([Stored(key, jpeg, _JPEG) for key, jpeg in zip(keys, jpegs, strict=True)], deps)
    sizes = [len(jpeg) for jpeg in jpegs]
    deps.events.stored(sizes)
    return StoredImages(keys, sizes)


async def _gather(ask: ImagesAsk, sources: Sequence[Source], deps: Deps) -> list[Image]:
    """Every image, held to the caps: the data URLs are counted before anything is fetched."""
    total = RunningTotal(ask.max_total_bytes)
    sizes = [source.size for source in sources if isinstance(source, DataSource)]
    for number, source in enumerate(sources):
        if isinstance(source, DataSource):
            total.add(source.size, number)
    images: list[Image] = []
    for number, source in enumerate(sources):
        match source:
            case DataSource(start=start):
                images.append(partial(_base64, ask.urls, number, start))
            case WebSource(url=url):
                body = await deps.fetcher.fetch_public_image(url, number, max_bytes=total.left)
                total.add(len(body), number)
                sizes.append(len(body))
                images.append(partial(bytes, body))
    deps.events.received(sizes)
    return images


def _base64(urls: Sequence[str], number: int, start: int) -> str:
    return urls[number][start:]


async def _normalise(images: Sequence[Image], deps: Deps) -> list[bytes]:
    """The JPEGs, decoded side by side; the first bad image in order is the one refused."""
    jpegs: list[bytes] = []
    try:
        # the first that no decoder takes in time ends the waiting of all
        async with asyncio.TaskGroup() as together:
            decoding = [together.create_task(deps.decoders.normalise(image)) for image in images]
    except* DecodersBusy as busy:
        raise Refusal(
            reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE, "Too many images are being read now. Please try again later."
        ) from busy
    for number, decoded in enumerate(task.result() for task in decoding):
        match decoded:
            case Jpeg(data=data):
                jpegs.append(data)
            case TooManyPixels(count=count):
                raise too_many_pixels(number, count)
            case _:
                raise unreadable(number)
    return jpegs
