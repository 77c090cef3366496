"""StoreImages: read the sources, hold them to the caps, make JPEGs of them, store all or none."""

import asyncio
from collections.abc import Sequence

from horde.contract.refusal import Refusal
from services.media.decoding import Jpeg, TooManyPixels
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
from services.media.storing import store_all


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
    await store_all(ask.request_id, keys, jpegs, deps)
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
