"""What a request costs in AdmitChat, and whether its payer can afford it: cap, budget, allowance, hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from horde.contract.chat import ChatRequest
from horde.contract.chat.images import count_images
from horde.contract.refusal import Refusal
from services.admission import repo
from services.admission.deps import Deps
from services.admission.handlers import shaping
from services.admission.rules import pricing
from services.admission.rules.facts import Account, Availability, Submission
from services.admission.settings import AdmissionSettings

_UNMEASURED = 10.0
"""Tokens per second of a worker without a measured speed. Chat reference, Job lease."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What was found: the price, the hold in hundredths, the allowance and who could serve the request."""

    price: pricing.Price
    hold: int
    allowance: pricing.Allowance
    available: Availability
    requester: str


async def cost(request: ChatRequest, shaped: shaping.Shape, known: Submission, account: Account, deps: Deps) -> Cost:
    """Every check of kudos, none of which holds anything yet. Raises Refusal."""
    terms = terms_of(deps.settings)
    sized = shaped.sized
    price = pricing.price(request, sized, count_images(sized.messages), deps.reference.current, terms)
    pricing.refuse_over_cap(price, request.horde.max_kudos)
    available = await measure(shaped.matched, deps)
    allowance = await allow(available, sized.max_length, deps)
    hold = pricing.hold(request, sized, price, allowance, terms)
    requester = pricing.requester(account, known.sharedkey)
    try:
        pricing.refuse_poor(
            account=account, key=known.sharedkey, cost=price, held=hold, free=allowance, available=available
        )
    except Refusal:
        if not request.horde.dry_run:
            if hold > account.available:
                deps.events.hold_rejected()
            deps.events.decided("refused", requester=requester, requested=request.max_length, allowance=allowance)
        raise
    pricing.refuse_over_key(known.sharedkey, sized.max_length)
    shaping.refuse_big_images(request, shaped, account)
    return Cost(price, hold, allowance, available, requester)


async def allow(available: Availability, max_length: int, deps: Deps) -> pricing.Allowance:
    """How many tokens these workers give without a hold, under the load they have."""
    terms = terms_of(deps.settings)
    load = None
    if available.threads and pricing.is_free(max_length, terms):
        load = await deps.loads.lately(available)
    elif available.threads:
        load = await deps.loads.now(available)
    return pricing.allowance(available, load, terms)


async def measure(matched: Mapping[str, Any], deps: Deps) -> Availability:
    """Which online workers could take a request with these columns."""
    settings = deps.settings
    return await repo.measure_availability(
        deps.store,
        dict(matched),
        online=timedelta(seconds=settings.worker_online_seconds),
        unmeasured=_UNMEASURED,
        capacity_seconds=float(settings.text_job_lease_seconds - settings.text_job_preparation_seconds),
    )


def terms_of(settings: AdmissionSettings) -> pricing.Terms:
    """The operator's numbers, as the rules take them."""
    return pricing.Terms(
        ceiling=settings.text_free_output_ceiling,
        floor=settings.text_free_output_floor,
        full_wait=settings.text_free_output_wait_full_seconds,
        floor_wait=settings.text_free_output_wait_floor_seconds,
        hold_on_worker_list=settings.upfront_kudos_on_workerlist,
        matched_targeting=settings.require_matched_targeting,
    )
