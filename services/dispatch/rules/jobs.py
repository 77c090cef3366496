"""Jobs: what the queue offers a worker, what a claim took, what the worker is told."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from services.dispatch.rules.messages import Message


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting request that fits, best first among its kind. `is_single`: the first claim takes all of it."""

    request_id: uuid.UUID
    user_id: int
    is_chat: bool
    models: Sequence[str]
    is_single: bool


@dataclass(frozen=True, slots=True)
class Candidates:
    """One read of the queue. `exhausted`: the queue holds nothing beyond what was looked at."""

    fitting: Sequence[Candidate]
    skipped: Mapping[str, int]
    exhausted: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all, not even what has to be passed over."""
        return self.exhausted and not self.fitting and not self.skipped


NOTHING = Candidates(fitting=(), skipped={}, exhausted=True)
"""Not even what trust would give is there."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request a worker would take, and the model it would serve it with."""

    request_id: uuid.UUID
    model: str


@dataclass(frozen=True, slots=True)
class Handout:
    """What a claim writes on each generation it makes. Lengths in tokens, times in seconds."""

    generation_ids: Sequence[uuid.UUID]
    worker_id: uuid.UUID
    now: datetime
    job_ttl: int
    lease_cap: int
    worker_trusted: bool
    capacity: float
    assigned_max_context_length: int
    assigned_max_length: int
    image_transport: str | None
    # an offloaded request's messages reach it as a link
    fetches_messages: bool


def generation_ids(claim_id: uuid.UUID | None, amount: int) -> list[uuid.UUID]:
    """The ids of up to so many generations; those of a claim that has an id follow from it, whoever asks again."""
    if claim_id is None:
        return [uuid.uuid4() for _ in range(amount)]
    return [uuid.uuid5(claim_id, str(place)) for place in range(amount)]


@dataclass(frozen=True, slots=True)
class Taken:
    """What a claim took: the generations made, and of the request what the worker needs. JSON as stored text."""

    request_id: uuid.UUID
    generation_ids: Sequence[uuid.UUID]
    model: str
    fake: bool
    is_chat: bool
    streamed: bool
    over_capacity: bool
    created: datetime
    user_id: int
    from_shared_key: bool
    max_length: int
    max_context_length: int
    prompt: str
    params: str
    # None with `by_link`: the messages were offloaded and the worker fetches them
    messages: str | None
    by_link: bool
    chat_extras: str | None
    image_keys: Sequence[str]
    # the worker loads it before it generates; empty: none
    softprompt: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The answer to a pop; `request_id` None: there was no job."""

    request_id: uuid.UUID | None = None
    generation_ids: Sequence[uuid.UUID] = ()
    model: str = ""
    ttl_seconds: int = 0
    is_chat: bool = False
    payload: bytes = b""
    softprompt: str = ""
    skipped: Mapping[str, int] = field(default_factory=dict)
    # what its worker is told on the occasion
    messages: Sequence[Message] = ()
