"""Who may submit at all: operation keys, modes, keys, concurrency.

Chat reference, Routes step 3 to 5; base-domain 3.4.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission.rules.facts import Account, Claim, SharedKey, Submission

_TELLING_SECONDS = 4 * 24 * 3600
"""A longer timeout is not told in seconds. base-domain 1.10."""


def repeated(claim: Claim | None, fingerprint: str) -> Claim | None:
    """The earlier request of a repeated operation; None when its key is free. Raises OperationKeyConflict."""
    if claim is not None and claim.fingerprint != fingerprint:
        raise Refusal(
            reasons.OPERATION_KEY_CONFLICT,
            "horde.operation_key: this key was used for a different request; send a new key for a new request.",
            {"param": "horde.operation_key"},
        )
    return claim


def refuse_when_closed(*, is_open: bool) -> None:
    """The admission flag."""
    if not is_open:
        raise Refusal(reasons.CHAT_ADMISSION_DISABLED, "New chat requests are not accepted at the moment.")


def refuse_in_maintenance(*, maintenance: bool) -> None:
    """Maintenance mode."""
    if maintenance:
        raise Refusal(reasons.MAINTENANCE_MODE, "The horde is in maintenance mode; please try again later.")


def authenticate(known: Submission, now: datetime) -> Account:
    """Who pays, and may still submit. Raises a Refusal."""
    account = payer(known, now)
    refuse_deleted(account)
    return account


def payer(known: Submission, now: datetime) -> Account:
    """Who pays: the owner of a valid shared key, or the account of a personal key. Raises a Refusal of either."""
    if known.sharedkey is not None:
        _refuse_unusable(known.sharedkey, now)
    if known.account is None:
        raise Refusal(reasons.INVALID_API_KEY, "No user matches this API key.")
    return known.account


def refuse_deleted(account: Account) -> None:
    """An account on its way out."""
    if account.deleted:
        raise Refusal(reasons.DELETED_USER, "This account is being deleted and cannot submit requests.")


def _refuse_unusable(key: SharedKey, now: datetime) -> None:
    if key.kudos == 0:
        raise Refusal(reasons.SHARED_KEY_EMPTY, "This shared key has no kudos left.")
    if key.expiry is not None and key.expiry <= now:
        raise Refusal(reasons.SHARED_KEY_EXPIRED, "This shared key has expired.")


def refuse_unknown_workers(named: Sequence[str], missing: Sequence[UUID]) -> None:
    """Every worker that a request names has to exist."""
    gone = {str(worker) for worker in missing}
    for worker in named:
        parsed = worker_id(worker)
        if parsed is None or str(parsed) in gone:
            raise Refusal(reasons.WORKER_NOT_FOUND, f"There is no worker with the id '{worker[:100]}'.")


def worker_id(text: str) -> UUID | None:
    """A client's spelling of a worker's id; None when it cannot be one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def refuse_when_too_many(account: Account, waiting: int, jobs: int = 1) -> None:
    """The concurrency limit: generations not yet handed out, these `jobs` included. base-domain 2.5."""
    if waiting + jobs > account.concurrency:
        raise too_many(waiting, account.concurrency)


def too_many(waiting: int, limit: int) -> Refusal:
    """The refusal of the concurrency limit."""
    return Refusal(
        reasons.TOO_MANY_PROMPTS,
        f"Too many generations wait already: {waiting} of {limit}. Wait for some of them to be handed out.",
    )


def favours_address(account: Account, *, proxied: bool) -> bool:
    """Whether the address it came from may call more often for a day. base-domain 1.7."""
    return not proxied and (account.trusted or account.service or account.education)


def refuse_in_timeout(seconds: int) -> None:
    """An address that moderation has put in timeout. `seconds` until it ends; 0: none."""
    if seconds > _TELLING_SECONDS:
        raise Refusal(reasons.TIMEOUT_IP, "This address is in timeout, because of earlier requests.")
    if seconds > 0:
        raise Refusal(
            reasons.TIMEOUT_IP,
            f"This address is in timeout for {seconds} more seconds, because of earlier requests.",
            retry_after=seconds,
        )
