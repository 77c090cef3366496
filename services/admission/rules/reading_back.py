"""Who may read a submission back. base-domain 3.13."""

from dataclasses import dataclass
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Who asks, with which key, and what is there. `submission` is JSON, None when there is no such text request."""

    account_id: int | None
    anonymous: bool
    sharedkey_id: UUID | None
    submitter_id: int | None
    submitted_with: UUID | None
    submission: bytes | None


def permitted(kept: Kept) -> bytes:
    """The submission, for its submitter's key, and for the shared key it was sent with. Raises Refusal."""
    if kept.account_id is None and kept.sharedkey_id is None:
        raise Refusal(reasons.INVALID_API_KEY, "No user matches this API key.")
    if kept.anonymous:
        raise Refusal(reasons.ANON_FORBIDDEN, "The anonymous account cannot read requests back.")
    if kept.submission is None:
        raise Refusal(reasons.REQUEST_NOT_FOUND, "There is no text request with this id.")
    # a shared key's requests are its owner's too, but the owner's own are not the key's
    is_owner = kept.account_id is not None and kept.account_id == kept.submitter_id
    is_key = kept.sharedkey_id is not None and kept.sharedkey_id == kept.submitted_with
    if not (is_owner or is_key):
        raise Refusal(reasons.NOT_REQUEST_OWNER, "This request was submitted by another account.")
    return kept.submission
