"""The last step of AdmitChat: images are stored under an inactive row, then the request is let in, in one commit."""

import asyncio

from horde.contract.chat import ChatRequest
from services.admission import repo
from services.admission.deps import Deps
from services.admission.handlers.costing import Cost
from services.admission.handlers.shaping import image_cap
from services.admission.rules import pricing
from services.admission.rules.facts import Account, Claim
from services.admission.rules.impossible import nobody_can_serve
from services.admission.rules.row import Row


async def activate(
    row: Row, request: ChatRequest, account: Account, cost: Cost, urls: list[str], deps: Deps
) -> Claim | None:
    """Queues the row; the earlier request when its operation key was claimed meanwhile. Raises Refusal."""
    if not row.images:
        return await _let_in(row, request, cost, deps)
    await repo.accept_inactive(deps.store, row)
    queued = False
    try:
        await deps.media.store_images(row.id, urls, max_total_bytes=image_cap(account))
        claim = await _let_in(row, request, cost, deps)
        queued = claim is None
        return claim
    finally:
        if not queued:
            # also when the caller went away: a row that never becomes active is never cleaned up by a reply
            await asyncio.shield(repo.discard(deps.store, row.id))


async def _let_in(row: Row, request: ChatRequest, cost: Cost, deps: Deps) -> Claim | None:
    def decided(outcome: str) -> None:
        deps.events.decided(outcome, requester=cost.requester, requested=request.max_length, allowance=cost.allowance)

    try:
        claim = await repo.activate(deps.store, row, hold=cost.hold, tax=cost.price.tax)
    except repo.HoldNotCovered as poor:
        decided("refused")
        if not cost.available.workers:
            raise nobody_can_serve(cost.available) from poor
        raise pricing.upfront_refusal(cost.hold, poor.available, cost.allowance) from poor
    if claim is None:
        decided("funded" if cost.hold else "free")
    return claim
