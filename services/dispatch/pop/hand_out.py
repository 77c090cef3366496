"""The last step of a pop: the payload of what was taken, and the stream lease that lets the worker post progress."""

import asyncio
from collections.abc import Mapping

from horde.contract.api_keys import lease_key
from horde.contract.limits import CHAT_PROGRESS_BYTES_PER_TOKEN
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc import deadlines
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import pop as events
from services.dispatch.repo import queue as repo
from services.dispatch.rules.jobs import Claim, Handout, Taken
from services.dispatch.rules.payload import chat_payload, text_payload
from services.dispatch.rules.streams import StreamLease
from services.dispatch.rules.workers import Account

_ANOTHER_SECONDS = 2.0
"""What another job takes until its worker hears of it, on a busy machine: a read, a commit, and the stream leases."""


def is_time_for_another() -> bool:
    """Whether the caller still waits for long enough to hear of another job."""
    left = deadlines.left()
    return left is None or left >= _ANOTHER_SECONDS


@durations.start_generation
async def hand_out(taken: Taken, handout: Handout, account: Account, deps: Deps) -> Claim | None:
    """The answer to the worker; None when its objects cannot be delivered: the jobs wait again, as if never taken."""
    try:
        link = await _link(taken, deps)
        images = await _images(taken, handout, deps)
    except (Outage, Refusal) as away:
        events.given_back(taken, away)
        await repo.give_back(deps.store, taken.request_id, taken.generation_ids, deps.clock.now())
        return None
    if taken.streamed:
        await _open_leases(taken, handout, account, deps)
    return Claim(
        request_id=taken.request_id,
        generation_ids=taken.generation_ids,
        model=taken.model,
        ttl_seconds=handout.job_ttl,
        is_chat=taken.is_chat,
        payload=_payload(taken, images, link),
        softprompt=taken.softprompt,
    )


def _payload(taken: Taken, images: Mapping[str, str], link: str | None) -> bytes:
    if not taken.is_chat:
        return text_payload(
            prompt=taken.prompt,
            params=taken.params,
            max_length=taken.max_length,
            max_context_length=taken.max_context_length,
        )
    return chat_payload(
        messages=taken.messages or "[]",
        messages_url=link,
        params=taken.params,
        extras=taken.chat_extras,
        max_length=taken.max_length,
        max_context_length=taken.max_context_length,
        images=images,
    )


async def _link(taken: Taken, deps: Deps) -> str | None:
    """Where the worker fetches offloaded messages; None: they are in the payload."""
    if not taken.by_link:
        return None
    valid = deps.settings.chat_messages_url_seconds
    return await deps.neighbours.sign_messages(str(taken.request_id), valid_seconds=valid)


async def _images(taken: Taken, handout: Handout, deps: Deps) -> Mapping[str, str]:
    """A URL for each of the job's images, of the kind its worker takes."""
    if taken.by_link or not taken.image_keys:
        return {}
    if handout.image_transport == "base64":
        urls = await deps.neighbours.inline_images(taken.image_keys)
    else:
        valid = max(handout.job_ttl, deps.settings.min_chat_image_url_seconds)
        urls = await deps.neighbours.sign_images(taken.image_keys, valid_seconds=valid)
    return dict(zip(taken.image_keys, urls, strict=True))


async def _open_leases(taken: Taken, handout: Handout, account: Account, deps: Deps) -> None:
    """Best effort, but before the answer: the worker may post at once."""
    leases = (
        StreamLease(
            generation_id=str(generation),
            request_id=str(taken.request_id),
            worker_id=str(handout.worker_id),
            model=taken.model,
            owner_id=account.id,
            key=lease_key(account.api_key_hash),
            max_bytes=CHAT_PROGRESS_BYTES_PER_TOKEN * taken.max_length,
            fake=taken.fake,
            started=handout.now,
            job_ttl_seconds=handout.job_ttl,
            lease_cap_seconds=handout.lease_cap,
            trusted=handout.worker_trusted,
        )
        for generation in taken.generation_ids
    )
    opened = await asyncio.gather(*map(deps.neighbours.open_lease, leases), return_exceptions=True)
    for failure in opened:
        if isinstance(failure, Exception):
            events.lease_not_opened(taken, failure)
