"""How much context a text request gets. base-domain 3.6."""

from dataclasses import dataclass, replace

from horde.contract import limits, reasons
from horde.contract.chat.flattening import estimate_tokens
from horde.contract.refusal import Refusal
from horde.contract.text import TextRequest
from services.admission.rules.sizing import DoesNotFit, power_of_two, refuse_bad_params


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A text request as it will be queued: `mode` is the client's, `outcome` what happened. Lengths in tokens."""

    max_length: int
    max_context_length: int
    estimate: int
    mode: str
    outcome: str


def needs_growth(request: TextRequest) -> bool:
    """Whether it is worth asking how much context the workers have."""
    return request.context_fit == "grow" and _needed(request) > request.max_context_length


def fit(request: TextRequest, widest: int | None) -> Fitted:
    """The lengths the request is queued with.

    `widest`: the largest context of an online worker, for a request that needs growth; None without a worker.
    Raises DoesNotFit.
    """
    estimate, asked, length = _estimate(request), request.max_context_length, request.max_length
    mode = request.context_fit
    whole = Fitted(max_length=length, max_context_length=asked, estimate=estimate, mode=mode, outcome="fits")
    needed = estimate + length
    if needed <= asked:
        return whole
    if mode == "ignore":
        return replace(whole, outcome="sent_overlong")
    figures = f"The prompt is estimated at {estimate} tokens; with {length} tokens to generate it"
    if mode == "reject":
        raise DoesNotFit(f"{figures} does not fit the context of {asked} tokens.", mode)
    bound = min(limits.MAX_CONTEXT_LENGTH, asked if widest is None else widest)
    if needed > bound:
        largest = max(bound, asked)
        raise DoesNotFit(
            f"{figures} needs a context of {needed} tokens, and the largest that can be had is {largest}.", mode
        )
    return replace(whole, max_context_length=min(power_of_two(needed), bound), outcome="grown")


def _estimate(request: TextRequest) -> int:
    return estimate_tokens(len(request.prompt), 0)


def _needed(request: TextRequest) -> int:
    return _estimate(request) + request.max_length


def refuse_bad_text_params(request: TextRequest, fitted: Fitted) -> None:
    """The rules of params that look at more than one value. base-domain 3.2."""
    order = request.sampling.get("sampler_order")
    if order is not None and len(set(order)) < limits.MIN_SAMPLERS:
        raise Refusal(
            reasons.MISSING_FULL_SAMPLER_ORDER,
            f"params.sampler_order has to name all {limits.MIN_SAMPLERS} samplers, each once at least.",
        )
    refuse_bad_params(fitted, request.sampling.get("stop_sequence", ()))
