"""StoreImages: read the sources, hold them to the caps, make JPEGs of them, store all or none."""

import asyncio
from collections.abc import Sequence

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable
from services.media.decoding import Jpeg, TooManyPixels
from services.media.deleting import delete_or_queue
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

JPEG_TYPE = "image/jpeg"


async def store_images(ask: ImagesAsk, deps: Deps) -> Sequence[str]:
    """The keys of the stored images, in order. Raises Refusal; then nothing is stored, or its delete is queued."""
    try:
        check_count(len(ask.urls))
        sources = [read_source(url, number) for number, url in enumerate(ask.urls)]
        began = deps.clock.monotonic()
        images = await _gather(sources, ask.max_total_bytes, deps)
        deps.events.took("gather", deps.clock.monotonic() - began)
        began = deps.clock.monotonic()
        jpegs = await _normalise(images, deps)
        deps.events.took("decode", deps.clock.monotonic() - began)
        check_stored_total(map(len, jpegs), ask.max_total_bytes)
    except Refusal as no:
        deps.events.refused(no.reason)
        raise
    keys = image_keys(ask.request_id, len(jpegs))
    # A caller that gives up must not leave half of the images behind, so this part ends with or without it.
    await asyncio.shield(deps.keep_going(_store(keys, jpegs, deps)))
    return keys


async def _gather(sources: Sequence[Source], cap: int, deps: Deps) -> list[str | bytes]:
    """Every image, held to the caps: the data URLs are counted before anything is fetched."""
    total = RunningTotal(cap)
    sizes = [source.size for source in sources if isinstance(source, DataSource)]
    for number, source in enumerate(sources):
        if isinstance(source, DataSource):
            total.add(source.size, number)
    images: list[str | bytes] = []
    for number, source in enumerate(sources):
        match source:
            case DataSource(base64=text):
                images.append(text)
            case WebSource(url=url):
                body = await deps.fetcher.fetch_public_image(url, number, max_bytes=total.left)
                total.add(len(body), number)
                sizes.append(len(body))
                images.append(body)
    deps.events.received(sizes)
    return images


async def _normalise(images: Sequence[str | bytes], deps: Deps) -> list[bytes]:
    """The JPEGs, decoded side by side; the first bad image in order is the one refused."""
    jpegs: list[bytes] = []
    for number, decoded in enumerate(await asyncio.gather(*map(deps.decoders.normalise, images))):
        match decoded:
            case Jpeg(data=data):
                jpegs.append(data)
            case TooManyPixels(count=count):
                raise too_many_pixels(number, count)
            case _:
                raise unreadable(number)
    return jpegs


async def _store(keys: Sequence[str], jpegs: Sequence[bytes], deps: Deps) -> None:
    """Stores all; after one failure takes all back, also those whose put may have worked without our knowing."""
    began = deps.clock.monotonic()
    puts = (deps.blobs.put(key, jpeg, kind=JPEG_TYPE) for key, jpeg in zip(keys, jpegs, strict=True))
    results = await asyncio.gather(*puts, return_exceptions=True)
    deps.events.took("store", deps.clock.monotonic() - began)
    failures = [result for result in results if isinstance(result, BaseException)]
    if not failures:
        deps.events.stored([len(jpeg) for jpeg in jpegs])
        return
    await delete_or_queue(keys, deps.blobs, deps.queue, deps.events)
    bugs = [failure for failure in failures if not isinstance(failure, BlobsUnavailable)]
    if bugs:
        raise bugs[0]
    deps.events.refused(reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE)
    raise Refusal(
        reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE, "The images cannot be stored now. Please try again later."
    ) from failures[0]
