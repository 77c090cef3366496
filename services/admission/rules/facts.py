"""What is known of a submission before anything is decided. Amounts in hundredths of a kudo."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

UNLIMITED = -100
"""A shared key's budget of minus one kudo: no limit. base-domain 2.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, as the edge saw it; nothing is believed yet."""

    api_key: str
    remote_address: str = ""
    proxied_for: str = ""
    proxy_passkey: str = ""
    client_agent: str = "unknown:0:unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One submission as it arrived."""

    caller: Caller
    body: bytes
    traceparent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAccount:
    """What anybody with the key may know of its account."""

    id: int
    alias: str
    kudos: int
    trusted: bool
    moderator: bool
    flagged: bool
    concurrency: int
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as it stands now. `available` is what its balance has above its floor and its holds."""

    id: int
    alias: str
    anonymous: bool
    trusted: bool
    moderator: bool
    service: bool
    education: bool
    flagged: bool
    deleted: bool
    kudos: int
    available: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedKey:
    """A key that an owner lends."""

    id: UUID
    kudos: int
    expiry: datetime | None
    max_text_tokens: int


@dataclass(frozen=True, slots=True)
class Claim:
    """The request that an operation key was claimed for."""

    request_id: UUID
    fingerprint: str
    kudos: int


@dataclass(frozen=True, slots=True)
class Offer:
    """What the online chat workers of one model offer together."""

    model: str
    workers: int
    max_context_length: int
    max_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What one statement told of a submission."""

    maintenance: bool
    raid: bool
    account: Account | None
    sharedkey: SharedKey | None
    claim: Claim | None
    waiting: int
    offers: Sequence[Offer]
    missing_workers: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Availability:
    """Which online workers could take a request, and what the others lack."""

    workers: int
    threads: int
    tokens_per_second: float
    worker_ids: Sequence[UUID]
    gap: bool
    missing: Sequence[str]
    exceeded: Sequence[str]


@dataclass(frozen=True, slots=True)
class Load:
    """What waits for the same workers."""

    tokens: int
    jobs: int
