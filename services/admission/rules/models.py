"""Known and served models, and the longest reply they allow. Chat reference, Known models; Context adjustments."""

from collections.abc import Mapping, Sequence
from typing import Any

from horde.contract import reasons
from horde.contract.chat.request import ChatRequest
from horde.contract.models import ModelReference
from horde.contract.refusal import Refusal
from services.admission.rules.facts import Offer
from services.admission.rules.pricing import Priced

_SPEEDS = ((20.0, 3.0), (13.0, 4.0), (0.0, 5.0))
"""Lowest tokens per second by the first model's billions of parameters. base-domain 4.7."""

_SPEED_OF_ANY_MODEL = 3.0
"""The same where a text request names no model."""


def refuse_unserved(request: ChatRequest, offers: Sequence[Offer], reference: ModelReference) -> None:
    """Every model has to be known, and one of them served now. Raises UnknownChatModel or NoEligibleWorker."""
    served = {offer.model for offer in offers if offer.workers > 0}
    for position, model in enumerate(request.models):
        if model not in served and not reference.is_known(model):
            path = request.model_path(position)
            raise Refusal(
                reasons.UNKNOWN_CHAT_MODEL,
                f"'{path}': no model named '{model[:255]}' is known, and no online worker serves it.",
                {"param": path},
            )
    if not served:
        names = ", ".join(f"'{model[:255]}'" for model in request.models)
        whom = f"the model {names}" if len(request.models) == 1 else f"any of the models {names}"
        raise Refusal(reasons.NO_ELIGIBLE_WORKER, f"No worker is currently serving {whom}.")


def lowered(max_length: int, offers: Sequence[Offer]) -> tuple[int, list[Mapping[str, Any]]]:
    """The longest reply that any serving worker declares, and the adjustment to record when that is shorter."""
    longest = max((offer.max_length for offer in offers), default=max_length)
    if max_length <= longest:
        return max_length, []
    return longest, [{"from": max_length, "to": longest, "reason": "worker_max_length"}]


def widest_context(offers: Sequence[Offer]) -> int | None:
    """The largest chat context among them; None without a worker."""
    return max((offer.max_context_length for offer in offers), default=None)


def lowest_speed(request: Priced, reference: ModelReference) -> float:
    """Tokens per second a worker has to make for this request; 0 when slow workers are welcome."""
    if request.slow_workers:
        return 0.0
    if not request.models:
        return _SPEED_OF_ANY_MODEL
    size = reference.multiplier(request.models[0])
    return next(speed for least, speed in _SPEEDS if (1.0 if size is None else size) >= least)
