"""Keys that an owner lends. base-domain 2.4. Kudos in hundredths; -100 is unlimited."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission.rules.accounts import KeyHolder

DEFAULT_KUDOS = 500_000
"""The budget of a new key. base-domain 2.4."""

_MOST, _MOST_OF_TRUSTED, _MOST_OF_EDUCATION = 3, 10, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """What a key is to be; None: as it is, or as a new key is. `expiry_days` -1: never."""

    kudos: int | None = None
    expiry_days: int | None = None
    name: str | None = None
    max_image_pixels: int | None = None
    max_image_steps: int | None = None
    max_text_tokens: int | None = None

    def expiry(self, now: datetime) -> datetime | None:
        """When the key ends."""
        return None if self.expiry_days is None or self.expiry_days < 0 else now + timedelta(days=self.expiry_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """A shared key."""

    id: UUID
    user_id: int
    username: str
    name: str | None
    kudos: int
    expiry: datetime | None
    utilized: int
    max_image_pixels: int
    max_image_steps: int
    max_text_tokens: int


@dataclass(frozen=True, slots=True)
class KeyLoad:
    """The outstanding work of a key."""

    requests: int
    queued: int
    processing: int
    finished: int
    oldest_queued_seconds: int


def permit_key(owner: KeyHolder, count: int) -> None:
    """Raises Refusal(AnonForbidden, Forbidden)."""
    refuse_anonymous(owner)
    most = _MOST_OF_TRUSTED if owner.trusted else _MOST_OF_EDUCATION if owner.education else _MOST
    if count >= most:
        raise Refusal(reasons.FORBIDDEN, f"An account like yours may lend at most {most} shared keys.")


def refuse_anonymous(owner: KeyHolder) -> None:
    """Raises Refusal(AnonForbidden)."""
    if owner.anonymous:
        raise Refusal(reasons.ANON_FORBIDDEN, "The anonymous account lends no keys.")


def permit_owner(caller: KeyHolder, key: KnownKey) -> None:
    """Raises Refusal(Forbidden) for a key of somebody else."""
    if caller.id != key.user_id or caller.sharedkey_id is not None:
        raise Refusal(reasons.FORBIDDEN, f"The shared key {key.id} belongs to somebody else.")


def permit_change(change: KeyChange) -> None:
    """Raises Refusal(NoSharedKeyModSelected) when nothing is to be changed."""
    if all(getattr(change, field.name) is None for field in fields(change)):
        raise Refusal(reasons.NO_SHARED_KEY_MOD_SELECTED, "Nothing was selected to be changed.")


def no_such_key() -> Refusal:
    """base-domain 2.11: an unknown shared key is an unknown key."""
    return Refusal(reasons.INVALID_API_KEY, "There is no such shared key.")
