"""What the front knows of one request: pieces of a running reply, signals, and where the request stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a running reply, of generation `generation_id`."""

    generation_id: str
    seq: int
    content: str
    reasoning: str
    worker_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The generation faulted or was cancelled: nothing of it follows."""

    generation_id: str


@dataclass(frozen=True, slots=True)
class Signal:
    """The request changed: `generation`, `done`, `cancelled` or `faulted`."""

    event: str
    fault_reason: str | None = None
    fault_rc: str | None = None


@dataclass(frozen=True, slots=True)
class Subscribed:
    """From here on no event is missed."""


type Event = Subscribed | Piece | Ended | Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A stored reply. Counts are None where the worker did not report them; `finish_reason` is OpenAI's."""

    generation_id: str
    worker_id: str
    worker_name: str
    model: str
    content: str | None
    reasoning: str | None
    tool_calls: Sequence[Mapping[str, object]]
    finish_reason: str
    native_finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    charge_basis: str | None
    queue_wait_seconds: float


@dataclass(frozen=True, slots=True)
class Gap:
    """Every online worker of the model lacks a declaration the request needs, or has a limit the request exceeds."""

    missing: tuple[str, ...]
    exceeded: tuple[str, ...]
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a request stands. `created` in Unix seconds, `kudos_hundredths` charged so far."""

    is_done: bool
    is_faulted: bool
    processing: int
    eligible_threads: int
    wait_time_seconds: int
    created: int
    kudos_hundredths: int
    gap: Gap | None = None
    adjustments: Sequence[Mapping[str, object]] = ()
    fault_reason: str | None = None
    fault_rc: str | None = None
    reply: Reply | None = None

    @property
    def is_stranded(self) -> bool:
        """Whether nobody works on it and nobody online could."""
        return self.reply is None and self.processing == 0 and self.eligible_threads == 0

    @property
    def is_lowered(self) -> bool:
        """Whether `max_tokens` was lowered to what the workers allow."""
        return any(change.get("reason") == "worker_max_length" for change in self.adjustments)
