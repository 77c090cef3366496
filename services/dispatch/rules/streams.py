"""The words in which dispatch and progress speak about a running generation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class StreamLease:
    """A worker's right to post the progress of one generation."""

    generation_id: str
    request_id: str
    worker_id: str
    model: str
    owner_id: int
    # SHA-256 hex of the owner's stored key hash
    key: str
    max_bytes: int
    fake: bool
    started: datetime
    job_ttl_seconds: int
    lease_cap_seconds: int
    trusted: bool


@dataclass(frozen=True, slots=True)
class Posted:
    """What a generation has posted: characters of content (None: its entries are gone) and bytes accepted."""

    content_characters: int | None
    accepted_bytes: int


@dataclass(frozen=True, slots=True)
class Signal:
    """One message on a request's completion channel."""

    event: Literal["generation", "done", "cancelled", "faulted"]
    generations: int
    fault_reason: str | None = None
    fault_rc: str | None = None
