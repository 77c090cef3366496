"""What makes a worker suspicious, and how it is told. base-domain 2.7, 4.10."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from uuid import UUID

from horde.contract import limits

_EXTREME_NAME_LENGTH = 200

_FASTEST = 150.0
"""Tokens per second that no worker makes, whatever its model."""

_MIXTURE = "8x"
_MIXTURE_FACTOR = 3
"""A model with this in its name uses a part of its parameters for each token."""


class Suspicion(IntEnum):
    """Reasons by their number; those of a pop or a submit."""

    WORKER_NAME_LONG = 0
    WORKER_NAME_EXTREME = 1
    UNSAFE_IP = 3
    UNREASONABLY_FAST = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason that holds, and the sentence that moderators read."""

    suspicion: Suspicion
    detail: str


@dataclass(frozen=True, slots=True)
class WorkerSuspected:
    """A suspicion that moderation has to be told. `paused`: it was the one that paused the worker."""

    id: UUID
    happened: datetime
    worker_id: str
    worker_name: str
    owner_id: int
    suspicion: int
    detail: str
    paused: bool


@dataclass(frozen=True, slots=True)
class CsamReported:
    """A reply that its worker reported, as moderation has to know it."""

    id: UUID
    happened: datetime
    request_id: str
    job_id: str
    worker_id: str
    worker_name: str
    user_id: int
    proxied_account: str | None
    origin: str
    models: Sequence[str]
    submitted_prompt: str | None
    effective_prompt: str


type Report = WorkerSuspected | CsamReported


def by_name(name: str) -> Sequence[Reason]:
    """Why the name that a new worker asked for is suspicious; it was cut to what a name may have."""
    reasons = []
    if len(name) > limits.MAX_WORKER_NAME_LENGTH:
        reasons.append(Reason(Suspicion.WORKER_NAME_LONG, f"The worker's name had {len(name)} characters."))
    if len(name) > _EXTREME_NAME_LENGTH:
        reasons.append(Reason(Suspicion.WORKER_NAME_EXTREME, f"The worker's name had {len(name)} characters."))
    return reasons


def by_speed(speed: float, model: str, *, billions: float | None, owner_trusted: bool) -> Sequence[Reason]:
    """Why a speed in tokens per second is suspicious: both rules may hold. `billions` None: the model is unknown."""
    reasons = []
    if speed > _FASTEST:
        reasons.append(_too_fast(speed, model, _FASTEST))
    if not owner_trusted and billions is not None:
        limit = _credible(billions) * (_MIXTURE_FACTOR if _MIXTURE in model else 1)
        if speed > limit:
            reasons.append(_too_fast(speed, f"{model} ({billions:g} billion parameters)", limit))
    return reasons


def _credible(billions: float) -> float:
    if billions >= 70:  # noqa: PLR2004 - a table of sizes and speeds
        return 30.0
    if billions >= 14:  # noqa: PLR2004 - a table of sizes and speeds
        return 100.0
    return _FASTEST


def _too_fast(speed: float, model: str, limit: float) -> Reason:
    detail = f"The worker made {speed:.1f} tokens per second with {model}; at most {limit:g} are credible."
    return Reason(Suspicion.UNREASONABLY_FAST, detail)
