"""Storing the images of a request so that all of them are there, or none, whatever fails and whoever hangs up."""

import asyncio
from collections.abc import Sequence

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable
from services.media.deleting import delete_or_queue
from services.media.deps import Deps

JPEG_TYPE = "image/jpeg"


async def store_all(request_id: str, keys: Sequence[str], jpegs: Sequence[bytes], deps: Deps) -> None:
    """Stores each image under its key. Raises Refusal (ChatImageStorageUnavailable), after which none is stored."""
    # A thread that sends an object cannot be called back, so this part ends with or without its caller.
    owner = deps.newest[request_id] = object()
    storing = deps.keep_going(_store(keys, jpegs, deps))
    try:
        await asyncio.shield(storing)
    except asyncio.CancelledError:
        deps.keep_going(_take_back(storing, request_id, owner, keys, deps))
        raise
    finally:
        if storing.done():
            _forget(request_id, owner, deps)


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


async def _take_back(
    storing: asyncio.Task[None], request_id: str, owner: object, keys: Sequence[str], deps: Deps
) -> None:
    """The caller has gone and will have deleted the keys before they were all stored: they are deleted once more.

    Not when the caller has come back with the same request meanwhile: then they are that call's.
    """
    await asyncio.wait([storing])
    if not storing.cancelled() and storing.exception() is None and deps.newest.get(request_id) is owner:
        await delete_or_queue(keys, deps.blobs, deps.queue, deps.events)
    _forget(request_id, owner, deps)


def _forget(request_id: str, owner: object, deps: Deps) -> None:
    if deps.newest.get(request_id) is owner:
        del deps.newest[request_id]
