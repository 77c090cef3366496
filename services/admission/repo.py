"""Every statement of admission, rows turned into facts at this edge."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson

from horde.contract import reasons, strict_json
from horde.contract.refusal import Refusal
from horde.store import RaisedByFunction, Record, Store, queries
from services.admission.rules.entry import too_many
from services.admission.rules.facts import Account, Availability, Claim, Load, Offer, SharedKey, Submission
from services.admission.rules.reading_back import Kept
from services.admission.rules.row import Row

_SQL = queries("services.admission")


class HoldNotCovered(Exception):
    """The kudos went elsewhere between the check and the hold. `available` in hundredths."""

    def __init__(self, available: int) -> None:
        super().__init__(available)
        self.available = available


async def read_submission(
    store: Store,
    *,
    key_hash: str,
    sharedkey: UUID | None,
    operation_key: UUID | None,
    models: tuple[str, ...],
    online: timedelta,
    workers: list[UUID],
) -> Submission:
    """What a submission is judged by."""
    row = await store.fetchrow(
        _SQL["read_submission"], key_hash, sharedkey, operation_key, list(models), online, workers
    )
    if row is None:
        raise LookupError("moderation's settings row is gone")
    return Submission(
        maintenance=row["maintenance"],
        raid=row["raid"],
        account=_account(row),
        sharedkey=_sharedkey(row),
        claim=_claim(row),
        waiting=row["waiting"],
        offers=_offers(row),
        missing_workers=row["missing_workers"] or [],
    )


def _offers(row: Record) -> list[Offer]:
    columns = ("offered_models", "offering_workers", "offered_contexts", "offered_lengths")
    return [Offer(*offer) for offer in zip(*(row[column] or () for column in columns), strict=True)]


def _account(row: Record) -> Account | None:
    if row["account_id"] is None:
        return None
    return Account(
        id=row["account_id"],
        alias=row["alias"],
        anonymous=row["anonymous"],
        trusted=row["trusted"],
        moderator=row["moderator"],
        service=row["service"],
        education=row["education"],
        flagged=row["flagged"],
        deleted=row["deleted"],
        kudos=row["kudos"],
        available=row["available"],
        concurrency=row["concurrency"],
    )


def _sharedkey(row: Record) -> SharedKey | None:
    if row["sharedkey_id"] is None:
        return None
    return SharedKey(
        id=row["sharedkey_id"],
        kudos=row["sharedkey_kudos"],
        expiry=row["sharedkey_expiry"],
        max_text_tokens=row["max_text_tokens"],
    )


def _claim(row: Record) -> Claim | None:
    if row["claimed_request"] is None:
        return None
    return Claim(row["claimed_request"], row["claimed_fingerprint"], row["claimed_kudos"])


async def measure_availability(
    store: Store, matched: dict[str, Any], *, online: timedelta, unmeasured: float, capacity_seconds: float
) -> Availability:
    """Which online workers could take a request with these columns."""
    row = await store.fetchrow(
        _SQL["measure_availability"], orjson.dumps(matched), online, unmeasured, capacity_seconds
    )
    if row is None:
        raise LookupError("the availability function answered nothing")
    return Availability(
        workers=row["eligible_workers"],
        threads=row["eligible_threads"],
        tokens_per_second=row["tokens_per_second"],
        worker_ids=row["worker_ids"],
        gap=bool(row["gap"]),
        missing=row["missing"],
        exceeded=row["exceeded"],
    )


async def widest_context(store: Store, models: tuple[str, ...], *, online: timedelta) -> int | None:
    """The largest context among the online text workers of these models, in tokens; of any, when none is named."""
    widest: int | None = await store.fetchval(_SQL["widest_context"], list(models), online)
    return widest


async def read_text_submission(store: Store, *, key_hash: str, sharedkey: UUID | None, request: UUID | None) -> Kept:
    """A text request's submission, and who asks for it."""
    row = await store.fetchrow(_SQL["read_text_submission"], key_hash, sharedkey, request)
    if row is None:
        raise LookupError("a statement that always answers a row answered none")
    return Kept(
        account_id=row["account_id"],
        anonymous=bool(row["anonymous"]),
        sharedkey_id=row["sharedkey_id"],
        submitter_id=row["submitter_id"],
        submitted_with=row["submitted_with"],
        submission=None if row["submission"] is None else row["submission"].encode(),
    )


async def competing_load(store: Store, available: Availability) -> Load:
    """What waits for the same workers."""
    row = await store.fetchrow(_SQL["competing_load"], available.worker_ids)
    return Load(0, 0) if row is None else Load(row["tokens"], row["jobs"])


async def accept_inactive(store: Store, row: Row) -> None:
    """Stores a request whose images are still to come."""
    await store.fetchval(_SQL["accept_inactive"], *_stored(row))


async def discard(store: Store, request: UUID, *, late: timedelta) -> list[str]:
    """Removes a request that was never activated, and queues its objects for deletion; their keys.

    They stay queued until `late` has passed: so long one of them may still arrive in the store.
    """
    keys: list[str] = await store.fetchval(_SQL["discard"], request, late)
    return keys


async def keep_inline(store: Store, request: UUID) -> None:
    """The messages of an inactive request stay in its row: they turned out too small for an object."""
    await store.fetchval(_SQL["keep_inline"], request)


async def activate(store: Store, row: Row, *, hold: int, tax: int) -> Claim | None:
    """Lets the request in; the earlier request when its operation key is taken. Amounts in hundredths.

    Raises Refusal(TooManyPrompts) and HoldNotCovered; whatever it raises, nothing has changed.
    """
    try:
        answer = await store.fetchrow(_SQL["activate"], *_stored(row), hold, tax)
    except RaisedByFunction as raised:
        raise _meaning(raised) from raised
    return None if answer is None else _claim(answer)


def _meaning(raised: RaisedByFunction) -> Exception:
    if raised.code == "HD429":
        waiting, _, limit = raised.detail.partition(" of ")
        return too_many(int(waiting), int(limit))
    if raised.code == "HD402":
        return HoldNotCovered(int(raised.detail))
    return raised


def _stored(row: Row) -> tuple[bytes, str, str, bytes | None]:
    return strict_json.dumps(row.columns), row.prompt, row.submitted_prompt, row.messages


async def suspect(store: Store, account: int, suspicion: int) -> None:
    """Suspects an account, once for each reason; a repeat changes nothing."""
    await store.fetchval(_SQL["suspect"], account, suspicion)


async def tell_waiting(store: Store, requests: list[UUID]) -> None:
    """Wakes the pops that wait for jobs like those of these requests."""
    await store.fetchval(_SQL["tell_waiting"], requests)


async def find_account(store: Store, key_hash: str) -> Record:
    """The account of a personal key. Raises Refusal(InvalidAPIKey)."""
    row = await store.fetchrow(_SQL["find_account"], key_hash)
    if row is None:
        raise Refusal(reasons.INVALID_API_KEY, "No user matches this API key.")
    return row


async def known_passkeys(store: Store) -> dict[str, str]:
    """The passkeys of service accounts that are not flagged, and the alias of each account."""
    return {row["proxy_passkey"]: row["alias"] for row in await store.fetch(_SQL["known_passkeys"])}


async def ensure_anonymous(store: Store, key_hash: str) -> None:
    """The anonymous account is there."""
    await store.fetchval(_SQL["ensure_anonymous"], key_hash)


async def promotable(store: Store, threshold: int) -> list[int]:
    """Accounts whose escrow exceeds `threshold` (hundredths) and that meet every other condition."""
    return [row["id"] for row in await store.fetch(_SQL["promotable"], threshold)]


async def promote(store: Store, account: int) -> None:
    """Makes an account trusted."""
    await store.fetchval(_SQL["promote"], account)


async def kudos_flow(store: Store) -> list[Record]:
    """The last 24 hours of the ledger, oldest first: `hour`, and in hundredths `paid`, `earned`, `uptime`."""
    return await store.fetch(_SQL["kudos_flow"])
