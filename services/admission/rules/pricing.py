"""What a request costs, and whether its kudos are held. Chat reference, Pricing and Free output allowance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from horde.contract import pricing, reasons
from horde.contract.models import ModelReference, multiplier_or_one
from horde.contract.refusal import Refusal
from services.admission.rules.facts import UNLIMITED, Account, Availability, Load, SharedKey
from services.admission.rules.impossible import nobody_can_serve
from services.admission.rules.sizing import Lengths

_MATCHED_TARGETING = 10
"""A tenth of a kudo per generation. base-domain 6.1, 6.3."""


class Priced(Protocol):
    """A chat or text request, as far as its price reads it. `workers`: those it names and that count."""

    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def workers(self) -> tuple[str, ...]: ...
    @property
    def jobs(self) -> int: ...
    @property
    def slow_workers(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Terms:
    """The operator's numbers. Tokens and seconds."""

    ceiling: int
    floor: int
    full_wait: float
    floor_wait: float
    hold_on_worker_list: bool
    matched_targeting: bool


@dataclass(frozen=True, slots=True)
class Price:
    """Amounts in hundredths: the quote, what a hold would take, and what activation takes."""

    quote: int
    required: int
    tax: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens that need no hold, and the wait in seconds it was sized by (None: not measured)."""

    tokens: int
    wait: float | None


def price(request: Priced, sized: Lengths, images: int, reference: ModelReference, terms: Terms) -> Price:
    """The quote reads the first model, the hold the most expensive one."""
    tax = pricing.ACTIVATION_TAX + pricing.IMAGE_TAX * images
    if terms.matched_targeting and request.workers:
        quote = (_MATCHED_TARGETING + pricing.BURN) * request.jobs + tax
    else:
        quote = pricing.quote(
            max_length=sized.max_length,
            max_context_length=sized.max_context_length,
            generations=request.jobs,
            multiplier=reference.multiplier(request.models[0]) if request.models else None,
            models=len(request.models),
            images=images,
        )
    multipliers = [multiplier_or_one(reference, model) for model in request.models]
    required = pricing.upfront(max_length=sized.max_length, generations=request.jobs, multipliers=multipliers)
    return Price(quote, required, tax)


def refuse_over_cap(cost: Price, max_kudos: int | None) -> None:
    """The client's own cap on the quote, as a dry run would return it."""
    estimate = pricing.whole(cost.quote)
    if max_kudos is not None and estimate > max_kudos:
        raise Refusal(
            reasons.CHAT_KUDOS_CAP_EXCEEDED,
            f"The request is estimated at {estimate} kudos at current pricing; its cap horde.max_kudos is {max_kudos}.",
            {"param": "horde.max_kudos"},
        )


def allowance(available: Availability, load: Load | None, terms: Terms) -> Allowance:
    """How many tokens need no hold. `load` None: no worker is eligible, so nothing was measured."""
    if not available.threads or load is None:
        return Allowance(terms.floor, None)
    wait = pricing.queue_wait_seconds(
        tokens=load.tokens, jobs=load.jobs, tokens_per_second=available.tokens_per_second, threads=available.threads
    )
    tokens = pricing.free_output_allowance(
        wait, ceiling=terms.ceiling, floor=terms.floor, full_wait=terms.full_wait, floor_wait=terms.floor_wait
    )
    return Allowance(tokens, wait)


def hold(request: Priced, sized: Lengths, cost: Price, free: Allowance, terms: Terms) -> int:
    """What has to be held upfront, in hundredths; 0: nothing."""
    needs_hold = (
        not request.slow_workers
        or sized.max_length > free.tokens
        or (terms.hold_on_worker_list and bool(request.workers))
    )
    return cost.required if needs_hold else 0


def refuse_poor(
    *, account: Account, key: SharedKey | None, cost: Price, held: int, free: Allowance, available: Availability
) -> None:
    """Raises for kudos that are not there; NoEligibleWorker instead, when kudos would not help."""
    refusal = key_refusal(key, cost)
    if refusal is None and held and held > account.available:
        refusal = upfront_refusal(held, account.available, free)
    if refusal is not None:
        raise refusal if available.workers else nobody_can_serve(available)


def key_refusal(key: SharedKey | None, cost: Price) -> Refusal | None:
    """SharedKeyInsufficientKudos, when the budget of the shared key is smaller than what a hold would take."""
    if key is None or key.kudos == UNLIMITED or cost.required <= key.kudos:
        return None
    return Refusal(
        reasons.SHARED_KEY_INSUFFICIENT_KUDOS,
        f"This shared key has {_shown(key.kudos)} kudos left, and the request needs {_shown(cost.required)}.",
    )


def upfront_refusal(held: int, available: int, free: Allowance) -> Refusal:
    """KudosUpfront: what is wanted, what is there, and how much is free."""
    return Refusal(
        reasons.KUDOS_UPFRONT,
        f"This request needs {_shown(held)} kudos upfront, and {_shown(max(available, 0))} are available. "
        f"Right now up to {free.tokens} tokens are generated without kudos upfront: lower max_tokens, or earn kudos.",
    )


def refuse_over_key(key: SharedKey | None, max_length: int) -> None:
    """A shared key's limit per job."""
    if key is not None and -1 < key.max_text_tokens < max_length:
        raise Refusal(
            reasons.BAD_REQUEST,
            f"This shared key allows {key.max_text_tokens} tokens per request; {max_length} were asked.",
        )


def is_free(max_length: int, terms: Terms) -> bool:
    """Whether no load can take the request's tokens out of its allowance: the floor is free under any load."""
    return max_length <= terms.floor


def _shown(amount: int) -> str:
    return f"{amount / 100:.2f}".removesuffix(".00")


def requester(account: Account, key: SharedKey | None) -> str:
    """How the metrics call who asks."""
    if key is not None:
        return "shared_key"
    return "anonymous" if account.anonymous else "registered"


def bucket(tokens: int, bounds: Sequence[int] = (512, 1024, 2048, 4096)) -> str:
    """The size bucket of a length, as the metrics label it."""
    lower = 0
    for bound in bounds:
        if tokens <= bound:
            return f"<={bound}" if not lower else f"{lower + 1}-{bound}"
        lower = bound
    return f">{lower}"
