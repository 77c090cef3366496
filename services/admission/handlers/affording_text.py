"""What a text request costs in AdmitText, whether its payer can afford it, and what is left of it when not.

A request that allows it is downgraded instead of refused: shorter and for any worker when its hold is not covered, or
behind everybody else when its shared key is spent. base-domain 2.4, 3.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from horde.contract import limits
from horde.contract.refusal import Refusal
from horde.contract.text import TextRequest
from services.admission.deps import Deps
from services.admission.handlers import costing
from services.admission.rules import models, pricing, text_row
from services.admission.rules.facts import Account, Availability, SharedKey, Submission
from services.admission.rules.impossible import nobody_can_serve
from services.admission.rules.text_fit import Fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """A request in the form its payer can afford. `hold` in hundredths; `requested`: tokens before any downgrade."""

    request: TextRequest
    fitted: Fitted
    matched: Mapping[str, Any]
    price: pricing.Price
    hold: int
    allowance: pricing.Allowance
    available: Availability
    account: Account
    key: SharedKey | None
    requested: int
    is_behind: bool
    is_lowered: bool = False

    @property
    def outcome(self) -> str:
        """How the metrics call what was decided."""
        return "downgraded" if self.is_lowered else "funded" if self.hold else "free"


async def afford(request: TextRequest, fitted: Fitted, known: Submission, account: Account, deps: Deps) -> Bought:
    """Every check of kudos, none of which holds anything yet. Raises Refusal."""
    terms, matched = costing.terms_of(deps.settings), _matched(request, fitted, account, deps)
    price = pricing.price(request, fitted, 0, deps.reference.current, terms)
    available = await costing.measure(matched, deps)
    allowance = await costing.allow(available, fitted.max_length, deps)
    spent = pricing.key_refusal(known.sharedkey, price)
    bought = Bought(
        request=request,
        fitted=fitted,
        matched=matched,
        price=price,
        hold=pricing.hold(request, fitted, price, allowance, terms),
        allowance=allowance,
        available=available,
        account=account,
        key=known.sharedkey,
        requested=request.max_length,
        is_behind=request.allow_downgrade and spent is not None,
    )
    if spent is not None and not request.allow_downgrade:
        raise refused(bought, spent, deps)
    if bought.hold and bought.hold > account.available:  # a new account stands below its floor
        bought = await lowered(bought, account.available, deps)
    pricing.refuse_over_key(bought.key, bought.fitted.max_length)
    return bought


async def lowered(bought: Bought, available: int, deps: Deps) -> Bought:
    """The request without a hold: as long as the allowance, for any worker.

    `available` in hundredths is what did not cover the hold. Raises Refusal when the request may not be lowered.
    """
    request, tokens = bought.request, bought.allowance.tokens
    deps.events.hold_rejected(dry_run=request.dry_run)
    terms = costing.terms_of(deps.settings)
    is_bound = terms.hold_on_worker_list and bool(request.workers)
    if not request.allow_downgrade or is_bound or tokens < limits.MIN_CHAT_MAX_LENGTH:
        raise refused(bought, pricing.upfront_refusal(bought.hold, available, bought.allowance), deps)
    request = replace(request, slow_workers=True)
    fitted = replace(bought.fitted, max_length=min(bought.fitted.max_length, tokens))
    matched = _matched(request, fitted, bought.account, deps)
    return replace(
        bought,
        request=request,
        fitted=fitted,
        matched=matched,
        price=pricing.price(request, fitted, 0, deps.reference.current, terms),
        hold=0,
        available=await costing.measure(matched, deps),
        is_lowered=True,
    )


def refused(bought: Bought, refusal: Refusal, deps: Deps) -> Refusal:
    """What to raise: NoEligibleWorker instead, when kudos would not help. A dry run is not counted."""
    decided(bought, "refused", deps)
    return refusal if bought.available.workers else nobody_can_serve(bought.available)


def decided(bought: Bought, outcome: str, deps: Deps) -> None:
    """Counts what became of the request."""
    if not bought.request.dry_run:
        deps.events.decided(
            outcome,
            requester=pricing.requester(bought.account, bought.key),
            requested=bought.requested,
            allowance=bought.allowance,
            chat=False,
        )


def _matched(request: TextRequest, fitted: Fitted, account: Account, deps: Deps) -> Mapping[str, Any]:
    speed = models.lowest_speed(request, deps.reference.current)
    return text_row.matched_columns(request, fitted, min_speed=speed, account_id=account.id)
