"""Accounts as somebody sees them. Amounts in hundredths of a kudo. base-domain 2.1, 2.2, 2.10."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from uuid import UUID


class Role(IntEnum):
    """Numbers of the table `user_roles`. base-domain 2.2."""

    MODERATOR = 0
    TRUSTED = 1
    FLAGGED = 3
    CUSTOMIZER = 4
    VPN = 5
    SPECIAL = 6
    SERVICE = 7
    EDUCATION = 8
    DELETED = 9


class Privilege(IntEnum):
    """How much of an account somebody may see."""

    PUBLIC = 0
    SELF = 1
    MODERATOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder:
    """Whose key was sent. `sharedkey_id` is set when it was a shared key: it speaks for its owner, and is not them."""

    id: int
    alias: str
    anonymous: bool
    moderator: bool
    trusted: bool
    service: bool
    education: bool
    flagged: bool
    deleted: bool
    sharedkey_id: UUID | None = None
    sharedkey_name: str | None = None
    admin: bool = False

    @property
    def moderates(self) -> bool:
        """Administrators may do what moderators may."""
        return self.moderator or self.admin


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """All that is known of an account, besides its requests."""

    id: int
    alias: str
    kudos: int
    evaluating_kudos: int
    monthly_kudos: int
    monthly_kudos_last_received: datetime | None
    concurrency: int
    worker_invited: int
    public_workers: bool
    created: datetime
    last_active: datetime
    contact: str | None
    admin_comment: str | None
    proxy_passkey: str | None
    anonymous: bool
    pseudonymous: bool
    roles: Collection[int]
    sharedkeys: Sequence[UUID]
    stats: Mapping[str, int]
    records: Mapping[str, float]
    suspicion_count: int
    workers: int
    worker_ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Shown:
    """An account, and how much of it may be told. `active` holds its requests, for its holder and moderators."""

    account: Described
    privilege: Privilege
    active: Sequence[UUID] = ()
    sharedkey_name: str | None = None


def privilege_of(viewer: KeyHolder | None, account_id: int) -> Privilege:
    """What a key lets its holder see. A shared key shows what everybody sees."""
    if viewer is None or viewer.sharedkey_id is not None:
        return Privilege.PUBLIC
    if viewer.moderates:
        return Privilege.MODERATOR
    return Privilege.SELF if viewer.id == account_id and not viewer.anonymous else Privilege.PUBLIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """An account before its trust."""

    id: int
    alias: str
    created: datetime
    last_active: datetime
    age_seconds: int
    kudos: int
    evaluating_kudos: int
    contact: str | None
    admin_comment: str | None
    roles: Collection[int]
    suspicions: Sequence[tuple[int, int]]
    workers: int
    online: int
    paused: int
    worker_kudos: int
    contributions: int
    fulfilments: int


@dataclass(frozen=True, slots=True)
class Promotions:
    """Both queues. `threshold` in hundredths; None: nobody is promoted."""

    threshold: int | None
    blocked: Sequence[Promotion]
    eligible: Sequence[Promotion]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOfTest:
    """What a test's account is to be. Kudos in hundredths."""

    username: str
    oauth_id: str
    moderator: bool
    trusted: bool
    kudos: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What one day's requests of one model cost, through one key."""

    day: str
    model: str
    sharedkey: UUID | None
    requests: int
    generations: int
    tokens: int
    kudos: int
