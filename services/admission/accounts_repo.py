"""Every statement about accounts as people manage them; rows turned into facts at this edge."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

import orjson

from horde.contract.suspicions import USER_SUSPICION_THRESHOLD
from horde.store import RaisedByFunction, Record, Store, Transaction, queries
from services.admission.rules import transfers
from services.admission.rules.accounts import Described, KeyHolder, Promotion, Usage
from services.admission.rules.shared_keys import DEFAULT_KUDOS, KeyChange, KeyLoad, KnownKey
from services.admission.rules.transfers import Party

_SQL = queries("services.admission")

type Access = Store | Transaction


async def read_caller(store: Access, key_hash: str, sharedkey: UUID | None) -> KeyHolder | None:
    """Whose key this is; None when nobody's."""
    row = await store.fetchrow(_SQL["read_caller"], key_hash, sharedkey)
    return None if row is None or row["id"] is None else KeyHolder(**dict(row))


async def describe(store: Access, ids: Sequence[int], *, online: timedelta) -> list[Described]:
    """These accounts, in the order given; those that are not there are left out."""
    return [_described(row) for row in await store.fetch(_SQL["describe_accounts"], list(ids), online)]


def _described(row: Record) -> Described:
    facts = dict(row)
    return Described(**{**facts, "stats": orjson.loads(facts["stats"]), "records": orjson.loads(facts["records"])})


async def list_ids(store: Store, *, skipped: int, rows: int, by_age: bool) -> list[int]:
    """The ids of a page of accounts."""
    query = _SQL["list_accounts_by_age" if by_age else "list_accounts_by_kudos"]
    return [row["id"] for row in await store.fetch(query, skipped, rows)]


async def active_requests(store: Store, account: int) -> list[UUID]:
    """The account's requests that wait or run."""
    return [row["request"] for row in await store.fetch(_SQL["list_active_requests"], account)]


async def lock(tx: Transaction, account: int) -> datetime | None:
    """Keeps an account from being changed by anybody else; when it was last active, None without it."""
    row = await tx.fetchrow(_SQL["lock_account"], account)
    return None if row is None else row["last_active"]


async def update(tx: Transaction, account: int, values: dict[str, object]) -> None:
    """Writes plain columns; those that are not named stay."""
    columns = ("usage_multiplier", "concurrency", "worker_invited", "admin_comment", "public_workers")
    texts = ("username", "contact", "proxy_passkey")
    await tx.execute(_SQL["update_account"], account, *(values.get(name) for name in (*columns, *texts)))


async def set_role(tx: Transaction, account: int, role: int, *, held: bool) -> None:
    """Gives or takes a role; trust also moves what was earned in escrow and resumes paused workers."""
    if held and role == 1:
        await tx.fetchval(_SQL["promote"], account)
    else:
        await tx.execute(_SQL["add_role" if held else "remove_role"], account, role)


async def set_education_concurrency(tx: Transaction, account: int, *, is_education: bool) -> None:
    """An account for education may wait with more generations."""
    await tx.execute(_SQL["set_education_concurrency"], account, is_education)


async def add_monthly(tx: Transaction, account: int, amount: int) -> tuple[int, bool]:
    """What the account's own grant is now, in whole kudos a month, and whether it got none before."""
    row = await tx.fetchrow(_SQL["add_monthly_kudos"], account, amount)
    if row is None:
        raise LookupError("a locked account is gone")
    return row["monthly_kudos"], row["is_first"]


async def monthly_due(store: Store, now: datetime, rows: int) -> list[int]:
    """Accounts whose month is to be paid, or passes unpaid; `rows` at most."""
    return [row["id"] for row in await store.fetch(_SQL["list_monthly_due"], now, rows)]


async def pay_month(store: Access, account: int, now: datetime) -> int | None:
    """Pays one month; what was paid in hundredths, None when nothing is due: somebody else has just paid it."""
    paid: int | None = await store.fetchval(_SQL["pay_monthly"], account, now)
    return paid


async def reset_suspicions(tx: Transaction, account: int) -> None:
    """The account and its workers are suspected of nothing."""
    await tx.fetchval(_SQL["reset_suspicions"], account)


async def award(store: Access, account: int, amount: int, *, entry: str, action: str) -> int:
    """Kudos from the mint, or back to it, in hundredths; the new balance."""
    balance: int = await store.fetchval(_SQL["award"], account, amount, entry, action)
    return balance


async def wipe(tx: Transaction, account: int) -> None:
    """Nothing of a person is left in the account."""
    await tx.execute(_SQL["wipe_account"], account)


async def count_keys(tx: Transaction, owner: int) -> int:
    """How many keys an account lends."""
    count: int = await tx.fetchval(_SQL["count_shared_keys"], owner)
    return count


async def create_key(tx: Transaction, owner: int, wanted: KeyChange, now: datetime) -> UUID:
    """A new key; the key itself."""
    limits = (wanted.max_image_pixels, wanted.max_image_steps, wanted.max_text_tokens)
    made: UUID = await tx.fetchval(
        _SQL["create_shared_key"],
        owner,
        DEFAULT_KUDOS if wanted.kudos is None else wanted.kudos,
        wanted.expiry(now),
        wanted.name,
        *(-1 if limit is None else limit for limit in limits),
    )
    return made


async def read_key(store: Access, key: UUID) -> KnownKey | None:
    """A shared key; None when there is none."""
    row = await store.fetchrow(_SQL["read_shared_key"], key)
    return None if row is None else KnownKey(**dict(row))


async def key_load(store: Access, key: UUID) -> KeyLoad:
    """The outstanding work of a key."""
    row = await store.fetchrow(_SQL["read_shared_key_load"], key)
    return KeyLoad(0, 0, 0, 0, 0) if row is None else KeyLoad(*row)


async def update_key(tx: Transaction, key: UUID, change: KeyChange, now: datetime) -> None:
    """Writes what is to be changed."""
    await tx.execute(
        _SQL["update_shared_key"],
        key,
        change.kudos,
        change.expiry_days is not None,
        change.expiry(now),
        change.name,
        change.max_image_pixels,
        change.max_image_steps,
        change.max_text_tokens,
    )


async def delete_key(tx: Transaction, key: UUID) -> None:
    """The key goes, and what waits through it."""
    await tx.execute(_SQL["delete_shared_key"], key)


async def parties(store: Store, source: int, target: int | None) -> dict[int, Party]:
    """Both sides of a transfer, by id."""
    return {row["id"]: Party(**dict(row)) for row in await store.fetch(_SQL["read_parties"], source, target)}


async def earlier_transfer(store: Store, source: int, retry_key: str) -> tuple[str, int] | None:
    """What a retry key was used for: the target's name and the amount."""
    row = await store.fetchrow(_SQL["read_transfer"], source, retry_key)
    return None if row is None else (row["target"], row["kudos"])


async def has_transferred_lately(store: Store, source: int, target: int) -> bool:
    """Whether one account sent kudos to another within the last minute."""
    return bool(await store.fetchval(_SQL["has_transferred_lately"], source, target))


async def transfer(
    store: Store, source: int, target: int, *, sharedkey: UUID | None, amount: int, called: str, retry_key: str | None
) -> bool:
    """Moves the kudos; False when they had moved already.

    Raises Refusal(KudosTransferNotEnough, IdempotencyKeyConflict, TooFastKudosTransfers).
    """
    try:
        moved: bool = await store.fetchval(_SQL["transfer"], source, target, sharedkey, amount, called, retry_key)
        return moved
    except RaisedByFunction as raised:
        meanings = {"HD402": transfers.not_enough, "HD409": transfers.another_transfer, "HD425": transfers.too_fast}
        if raised.code not in meanings:
            raise
        refusal = meanings[raised.code]()
        raise refusal from raised


async def usage(store: Store, account: int, *, first: date, sharedkey: UUID | None) -> list[Usage]:
    """What the account's requests cost, the newest day first."""
    return [
        Usage(str(row["day"]), *tuple(row)[1:])
        for row in await store.fetch(_SQL["read_usage"], account, first, sharedkey)
    ]


async def promotions(store: Store, threshold: int, *, blocked: bool, rows: int, online: timedelta) -> list[Promotion]:
    """Accounts that meet every criterion of promotion but suspicion, on one side of its threshold."""
    found = await store.fetch(_SQL["list_promotions"], threshold, blocked, rows, online, USER_SUSPICION_THRESHOLD)
    return [_promotion(row) for row in found]


def _promotion(row: Record) -> Promotion:
    facts = dict(row)
    suspicions = tuple(zip(facts.pop("reasons"), facts.pop("counts"), strict=True))
    return Promotion(**facts, suspicions=suspicions)


async def find_test(tx: Transaction, oauth_id: str) -> tuple[int, int, bool] | None:
    """The account of an outside identity, its balance, and whether it is a test's."""
    row = await tx.fetchrow(_SQL["find_test_account"], oauth_id)
    return None if row is None else (row["id"], row["kudos"], row["is_test"])


async def create_test(tx: Transaction, username: str, oauth_id: str, key_hash: str) -> int | None:
    """A new account of a test; None when somebody else has just made it."""
    made: int | None = await tx.fetchval(_SQL["create_test_account"], username, oauth_id, key_hash)
    return made


async def refresh_test(tx: Transaction, account: int, username: str, key_hash: str) -> None:
    """A test's account gets a new name and key."""
    await tx.execute(_SQL["refresh_test_account"], account, username, key_hash)
