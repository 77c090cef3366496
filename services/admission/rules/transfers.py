"""Who may give kudos to whom: the order of base-domain 2.8."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from horde.contract.suspicions import USER_SUSPICION_THRESHOLD

_TOO_FAST = "This account has just sent kudos the other way. Please wait a minute."


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One side of a transfer."""

    id: int
    anonymous: bool
    trusted: bool
    flagged: bool
    education: bool
    deleted: bool
    suspicion_count: int

    @property
    def suspicious(self) -> bool:
        """base-domain 2.7: nobody trusted is."""
        return not self.trusted and not self.anonymous and self.suspicion_count >= USER_SUSPICION_THRESHOLD


@dataclass(frozen=True, slots=True)
class Target:
    """What a name leads to: an account, through a shared key or not."""

    account_id: int | None
    sharedkey: UUID | None = None
    expiry: datetime | None = None


def account_number(name: str) -> int | None:
    """The number behind the last `#`: only it matters. None when there is none."""
    _, mark, number = name.rpartition("#")
    return int(number) if mark and number.isascii() and number.isdigit() and len(number) < 10 else None  # noqa: PLR2004 - digits of 2^31


def permit_transfer(
    source: Party, target: Party | None, where: Target, *, is_too_fast: bool, amount: int, now: datetime
) -> None:
    """Raises the first Refusal. `is_too_fast`: the target sent kudos to the source within the last minute."""
    checks: tuple[tuple[bool, Reason, str], ...] = (
        (source.anonymous, reasons.KUDOS_TRANSFER_FROM_ANON, "The anonymous account cannot give kudos."),
        (target is None, reasons.INVALID_TARGET_USERNAME, "There is no such account to give kudos to."),
        (
            where.expiry is not None and where.expiry <= now,
            reasons.SHARED_KEY_EXPIRED_IN_TRANSFER,
            "This shared key has expired.",
        ),
        (
            target is not None and target.anonymous,
            reasons.KUDOS_TRANSFER_TO_ANON,
            "The anonymous account takes no kudos.",
        ),
        (
            target is not None and target.id == source.id,
            reasons.KUDOS_TRANSFER_TO_SELF,
            "Kudos cannot be given to oneself.",
        ),
        (is_too_fast, reasons.TOO_FAST_KUDOS_TRANSFERS, _TOO_FAST),
        (source.suspicious, reasons.FAULT_WHEN_KUDOS_SENDING, "This account cannot give kudos now."),
        (source.flagged, reasons.SOURCE_ACCOUNT_FLAGGED, "A flagged account cannot give kudos."),
        (source.education, reasons.EDUCATION_CANNOT_SEND_KUDOS, "An account for education cannot give kudos."),
        (
            target is not None and target.suspicious,
            reasons.FAULT_WHEN_KUDOS_RECEIVING,
            "The other account cannot receive kudos now.",
        ),
        (target is not None and target.flagged, reasons.TARGET_ACCOUNT_FLAGGED, "A flagged account takes no kudos."),
        (
            source.deleted or (target is not None and target.deleted),
            reasons.DELETED_USER_IN_TRANSFER,
            "One of the accounts is marked for deletion.",
        ),
        (amount < 0, reasons.NEGATIVE_KUDOS_TRANSFER, "Kudos cannot be taken from somebody."),
        (amount == 0, reasons.INVALID_KUDOS_TRANSFER_AMOUNT, "There is nothing to be given."),
    )
    for is_wrong, reason, message in checks:
        if is_wrong:
            raise Refusal(reason, message)


def too_fast() -> Refusal:
    """The target has just sent kudos to the source."""
    return Refusal(reasons.TOO_FAST_KUDOS_TRANSFERS, _TOO_FAST)


def not_enough() -> Refusal:
    """The balance above the floor and the holds does not cover it."""
    return Refusal(reasons.KUDOS_TRANSFER_NOT_ENOUGH, "There are not enough kudos for this.")


def another_transfer() -> Refusal:
    """The retry key belongs to a different transfer."""
    return Refusal(reasons.IDEMPOTENCY_KEY_CONFLICT, "This Idempotency-Key was used for another transfer.")
