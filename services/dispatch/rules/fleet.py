"""What the public routes tell of models and of the horde as a whole. base-domain 9; chat reference, Chat model list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

_NEVER = 10_000
"""The eta in seconds of a model that nothing serves."""


@dataclass(frozen=True, slots=True)
class ChatOffer:
    """What the online chat workers of one model offer together."""

    workers: int
    max_context_length: int
    max_length: int
    features: Sequence[str]
    created: datetime | None


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model: `performance` in tokens per second, `queued` in tokens; `custom` when the reference lacks it."""

    name: str
    threads: int
    performance: float
    queued: int
    jobs: int
    custom: bool
    chat: ChatOffer | None = None

    @property
    def eta_seconds(self) -> int:
        """Whole seconds until what is queued now would be served."""
        throughput = self.threads * self.performance
        return int(self.queued / throughput) if throughput > 0 else _NEVER


@dataclass(frozen=True, slots=True)
class Made:
    """Replies in a period, and the tokens that were asked of them."""

    requests: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ModelMade:
    """Replies of one model in the last day, the last 30 days, and since the horde began."""

    model: str
    day: int
    month: int
    total: int


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """What was made. `periods`: minute, hour, day, month, total."""

    periods: Mapping[str, Made]
    models: Sequence[ModelMade]


@dataclass(frozen=True, slots=True)
class Performance:
    """The horde in numbers."""

    queued_requests: int
    queued_tokens: int
    workers: int
    threads: int
    past_minute_tokens: int
