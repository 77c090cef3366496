"""Statements of the loops: what lapsed, what expired, what is left to delete."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from horde.store import Store, Transaction
from services.dispatch.repo import QUERIES

_LAPSED = QUERIES["list_lapsed"]
_EXPIRED = QUERIES["remove_expired"]
_DELETIONS = QUERIES["take_object_deletions"]
_FORGET = QUERIES["forget_object_deletions"]
_MAINTENANCE = QUERIES["is_maintenance"]
_BACKLOGS = QUERIES["measure_backlogs"]
_ABORT_QUEUED = QUERIES["abort_queued"]
_STATS_MONTHS = QUERIES["keep_stats_months"]


@dataclass(frozen=True, slots=True)
class Lapsed:
    """A running generation whose lease has ended."""

    id: UUID
    streamed: bool
    fake: bool
    worker_trusted: bool
    over_capacity: bool
    is_chat: bool
    max_length: int


async def list_lapsed(store: Store, *, now: datetime, amount: int) -> list[Lapsed]:
    """The longest lapsed first."""
    return [
        Lapsed(
            id=row["id"],
            streamed=row["streamed"],
            fake=row["fake"],
            worker_trusted=row["worker_trusted"],
            over_capacity=row["over_capacity_at_assignment"],
            is_chat=row["is_chat"],
            max_length=row["max_length"],
        )
        for row in await store.fetch(_LAPSED, now, amount)
    ]


@dataclass(frozen=True, slots=True)
class Expired:
    """A request that is gone.

    `unanswered`: it was neither done nor faulted; `streaming`: its generations that still had a lease.
    """

    id: UUID
    is_chat: bool
    unanswered: bool
    finished: int
    streaming: tuple[UUID, ...]
    fault_reason: str | None
    fault_rc: str | None


async def remove_expired(store: Store, *, now: datetime, amount: int) -> list[Expired]:
    """Deletes a batch in one commit, with holds and operation claims; objects are queued for deletion."""
    return [
        Expired(
            id=row["id"],
            is_chat=row["is_chat"],
            unanswered=row["unanswered"],
            finished=row["finished"],
            streaming=tuple(row["streaming"]),
            fault_reason=row["chat_fault_reason"],
            fault_rc=row["chat_fault_rc"],
        )
        for row in await store.fetch(_EXPIRED, now, amount)
    ]


async def take_object_deletions(store: Store, *, amount: int, pause: timedelta) -> list[str]:
    """Keys of objects whose row is gone and that nobody else has tried to delete for `pause`."""
    return [row["object_key"] for row in await store.fetch(_DELETIONS, amount, pause)]


async def forget_object_deletions(store: Store, keys: list[str]) -> None:
    """These are deleted; those that a late put may bring back stay queued."""
    await store.execute(_FORGET, keys)


async def measure_backlogs(store: Store, now: datetime) -> dict[str, float]:
    """Since when the oldest work of each loop has been due, in seconds; 0 when nothing is due."""
    row = await store.fetchrow(_BACKLOGS, now)
    return {} if row is None else {loop: max(due or 0.0, 0.0) for loop, due in row.items()}


async def is_maintenance(store: Store) -> bool:
    """Whether the horde takes no new work now."""
    return bool(await store.fetchval(_MAINTENANCE))


@dataclass(frozen=True, slots=True)
class Aborted:
    """A request of which nothing waits any more."""

    id: UUID
    is_chat: bool


async def abort_queued(tx: Transaction, *, amount: int) -> list[Aborted]:
    """Cancels what waits; rows that are busy are left for the next pass."""
    return [Aborted(row["id"], row["is_chat"]) for row in await tx.fetch(_ABORT_QUEUED, amount)]


async def keep_stats_months(store: Store, now: datetime, *, keep_from: datetime) -> list[str]:
    """Makes the months of statistics that come, drops those that ended before `keep_from`; the names of the dropped."""
    return [row["dropped"] for row in await store.fetch(_STATS_MONTHS, now, keep_from)]
