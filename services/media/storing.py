"""Storing the objects of a request so that all of them are there, or none, whatever fails and whoever hangs up."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable, Form
from services.media.deleting import delete_or_queue
from services.media.deps import Deps


@dataclass(frozen=True, slots=True)
class Stored:
    """An object to store."""

    key: str
    body: bytes
    form: Form


async def store_all(objects: Sequence[Stored], deps: Deps) -> None:
    """Stores each object under its key. Raises Refusal (ChatImageStorageUnavailable); then all are deleted soon."""
    keys, owner = [each.key for each in objects], object()
    deps.newest[keys[0]] = owner
    # A thread that sends an object cannot be called back, so this part ends with or without its caller.
    storing = deps.keep_going(_store(objects, deps))
    try:
        await asyncio.shield(storing)
    except BaseException:
        # nobody waits for it: a store that has just failed may need long to delete
        deps.keep_going(_take_back(storing, owner, keys, deps))
        raise
    _forget(keys[0], owner, deps)


async def _store(objects: Sequence[Stored], deps: Deps) -> None:
    """Stores all at once. Raises for the first that failed when each has ended."""
    began = deps.clock.monotonic()
    puts = (deps.blobs.put(each.key, each.body, each.form) for each in objects)
    results = await asyncio.gather(*puts, return_exceptions=True)
    deps.events.took("store", deps.clock.monotonic() - began)
    failures = [result for result in results if isinstance(result, BaseException)]
    if not failures:
        return
    bugs = [failure for failure in failures if not isinstance(failure, BlobsUnavailable)]
    if bugs:
        raise bugs[0]
    raise unavailable("The images or messages cannot be stored now. Please try again later.", deps) from failures[0]


def unavailable(message: str, deps: Deps) -> Refusal:
    """The refusal for a store that does not answer, counted."""
    deps.events.refused(reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE)
    return Refusal(reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE, message)


async def _take_back(storing: asyncio.Task[None], owner: object, keys: Sequence[str], deps: Deps) -> None:
    """Deletes all once each put has ended, also those that may have worked without our knowing.

    A caller who has gone may have had them deleted before they were stored. Not when the same request has come again
    meanwhile: then they are that call's.
    """
    await asyncio.wait([storing])
    if deps.newest.get(keys[0]) is owner:
        await delete_or_queue(keys, deps.blobs, deps.queue, deps.events)
    _forget(keys[0], owner, deps)


def _forget(first: str, owner: object, deps: Deps) -> None:
    if deps.newest.get(first) is owner:
        del deps.newest[first]
