"""The last step of AdmitChat: objects are stored under an inactive row, then the request is let in, in one commit."""

import asyncio

from horde.contract.chat import ChatRequest
from services.admission import durations, repo
from services.admission.deps import Deps
from services.admission.handlers.costing import Cost
from services.admission.handlers.shaping import image_cap
from services.admission.neighbours import LATE
from services.admission.rules import pricing
from services.admission.rules.facts import Account, Claim
from services.admission.rules.impossible import nobody_can_serve
from services.admission.rules.offload import is_offloaded
from services.admission.rules.row import Row

_let_in_now = durations.wp_activate(repo.activate)


@durations.activate_wp
async def activate(
    row: Row, request: ChatRequest, account: Account, cost: Cost, urls: list[str], deps: Deps
) -> Claim | None:
    """Queues the row; the earlier request when its operation key was claimed meanwhile. Raises Refusal."""
    if not row.has_objects:
        return await _let_in(row, request, cost, deps)
    queued = False
    try:
        await repo.accept_inactive(deps.store, row)
        await _store_objects(row, account, urls, deps)
        letting_in = asyncio.create_task(_let_in(row, request, cost, deps))
        try:
            claim = await asyncio.shield(letting_in)
        finally:
            # what has begun to be let in ends before it may be discarded, also when the caller has gone
            await asyncio.wait([letting_in])
            queued = letting_in.exception() is None and letting_in.result() is None
        return claim
    finally:
        if not queued:
            await asyncio.shield(_discard(row, deps))


async def _store_objects(row: Row, account: Account, urls: list[str], deps: Deps) -> None:
    sizes = await deps.media.store_images(row.id, urls, max_total_bytes=image_cap(account)) if urls else ()
    if not row.may_offload or row.messages is None:
        return
    threshold = deps.settings.chat_messages_offload_bytes
    if is_offloaded(row.messages, row.image_keys, sizes, threshold=threshold):
        await deps.media.offload_messages(row.id, row.messages)
    else:
        await repo.keep_inline(deps.store, row.id)


async def _discard(row: Row, deps: Deps) -> None:
    deps.clearing.delete(await repo.discard(deps.store, row.id, late=LATE))


async def _let_in(row: Row, request: ChatRequest, cost: Cost, deps: Deps) -> Claim | None:
    def decided(outcome: str) -> None:
        deps.events.decided(outcome, requester=cost.requester, requested=request.max_length, allowance=cost.allowance)

    try:
        claim = await _let_in_now(deps.store, row, hold=cost.hold, tax=cost.price.tax)
    except repo.HoldNotCovered as poor:
        deps.events.hold_rejected()
        decided("refused")
        if not cost.available.workers:
            raise nobody_can_serve(cost.available) from poor
        raise pricing.upfront_refusal(cost.hold, poor.available, cost.allowance) from poor
    if claim is None:
        decided("funded" if cost.hold else "free")
    return claim
