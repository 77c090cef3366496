"""Every statement of review: what moderators list and write."""

from collections.abc import Mapping, Sequence

import orjson

from horde.store import Record, Store, queries
from horde.store.engine import Transaction
from services.moderation.rules.review import (
    ALL_REASONS,
    Access,
    AccessQuery,
    Action,
    EventQuery,
    HistoryQuery,
    Mark,
    Note,
    RecordedEvent,
    Reviewer,
    SuspicionEvent,
)

_SQL = queries("services.moderation")

type _Bounds = tuple[int | None, int | None]
"""Ids of a page: below the first, from the second on; None: no bound."""


async def pick(tx: Transaction, query: EventQuery, *, subject: str | None, subject_key: str | None) -> list[int]:
    """The ids of the page and of one event more, newest first.

    `subject` is the address to be found: by its pseudonym, and among the events without one by itself.
    """
    rows = query.limit + 1
    reasons = _some_of_the_reasons(query)
    names_a_subject = query.names_a_subject or subject is not None
    if query.has_times and not (names_a_subject or query.unmarked):
        times = (reasons or list(ALL_REASONS), query.since, query.until)
        return await _ids(tx, "pick_events_in_time", query.before_id, *times, rows)
    bounds = await _bounds(tx, query)
    if bounds is None:
        return []
    if subject is not None:
        return (await _of_address(tx, query, bounds, subject, subject_key, rows))[:rows]
    if query.unmarked and not names_a_subject:
        rest = (reasons or list(ALL_REASONS), query.since, query.until)
        return await _ids(tx, "pick_unmarked_events", *bounds, *rest, rows)
    if reasons and not names_a_subject:
        return await _ids(tx, "pick_events_of_reasons", query.before_id, reasons, rows)
    return await _ids(tx, "pick_events", *_filters(query, bounds, query.ip_subject_key), rows)


def _some_of_the_reasons(query: EventQuery) -> list[str]:
    """The reasons that are wanted, each once, for each may be read for itself; empty when all are: no filter at all."""
    wanted = set(query.reasons)
    return [] if wanted.issuperset(ALL_REASONS) else sorted(wanted)


async def _bounds(tx: Transaction, query: EventQuery) -> _Bounds | None:
    """What the cursor and the times say of ids; None when there are no events in that time."""
    if not query.has_times:
        return query.before_id, None
    found = await tx.fetchrow(_SQL["bounds_of_time"], list(ALL_REASONS), query.since, query.until)
    if found is None or found["first"] is None:
        return None
    after_last = found["last"] + 1
    return (after_last if query.before_id is None else min(query.before_id, after_last)), found["first"]


async def _of_address(
    tx: Transaction, query: EventQuery, bounds: _Bounds, subject: str, subject_key: str | None, rows: int
) -> list[int]:
    """Two index scans, merged. A second filter by pseudonym leaves only events that carry it."""
    wanted = query.ip_subject_key
    found: list[int] = []
    if subject_key is not None and wanted in {None, subject_key}:
        found = await _ids(tx, "pick_events", *_filters(query, bounds, subject_key), rows)
    if wanted is None:
        found += await _ids(tx, "pick_unkeyed_events", *_filters(query, bounds, subject), rows)
    return sorted(found, reverse=True)


def _filters(query: EventQuery, bounds: _Bounds, seventh: str | None) -> tuple[object, ...]:
    """Parameters 1 to 11 of pick_events and pick_unkeyed_events."""
    return (
        *bounds,
        query.event_id,
        query.user_id,
        query.proxied_account,
        query.worker_id,
        seventh,
        _some_of_the_reasons(query) or None,
        query.since,
        query.until,
        query.unmarked,
    )


async def _ids(tx: Transaction, name: str, *args: object) -> list[int]:
    return [row["id"] for row in await tx.fetch(_SQL[name], *args)]


async def read(tx: Transaction, ids: Sequence[int]) -> list[RecordedEvent]:
    """These events, newest first."""
    return [_event(row) for row in await tx.fetch(_SQL["read_events"], list(ids))]


def _event(row: Record) -> RecordedEvent:
    return RecordedEvent(**{**dict(row), "models": orjson.loads(row["models"])})


async def notes(tx: Transaction, ids: Sequence[int]) -> Mapping[int, Sequence[Note]]:
    """The notes of these events, oldest first."""
    found: dict[int, list[Note]] = {}
    for row in await tx.fetch(_SQL["read_notes"], list(ids)):
        note = Note(row["id"], row["author_id"], row["author"], row["note"], row["created"])
        found.setdefault(row["event_id"], []).append(note)
    return found


async def marks(tx: Transaction, ids: Sequence[int]) -> Mapping[int, Sequence[Mark]]:
    """The marks of these events, oldest first."""
    found: dict[int, list[Mark]] = {}
    for row in await tx.fetch(_SQL["read_marks"], list(ids)):
        mark = Mark(row["mark"], row["moderator_id"], row["moderator"], row["created"])
        found.setdefault(row["event_id"], []).append(mark)
    return found


async def log_access(
    tx: Transaction,
    reviewer: Reviewer,
    action: Action,
    *,
    endpoint: str,
    events: Sequence[int],
    filters: Sequence[str] = (),
    subject_key: str | None = None,
    request_ip_key: str | None = None,
) -> None:
    """Writes one line of the access log."""
    values = (reviewer.account_id, action.value, endpoint, list(events), list(filters), subject_key, request_ip_key)
    await tx.execute(_SQL["log_access"], *values)


async def add_note(tx: Transaction, event_id: int, author_id: int, note: str) -> Record | None:
    """The new note's `id` and `created`; None without such an event."""
    return await tx.fetchrow(_SQL["add_note"], event_id, author_id, note)


async def set_mark(tx: Transaction, event_id: int, moderator_id: int, mark: str | None) -> bool:
    """Sets or, with None, takes back one moderator's mark; whether there is such an event."""
    if not await tx.fetchval(_SQL["has_event"], event_id):
        return False
    if mark is None:
        await tx.execute(_SQL["remove_mark"], event_id, moderator_id)
    else:
        await tx.execute(_SQL["set_mark"], event_id, moderator_id, mark)
    return True


async def suspicion_history(store: Store, query: HistoryQuery) -> list[SuspicionEvent]:
    """The history of worker suspicions, newest first, one row more than the page."""
    filters = (query.before_id, query.worker_id, query.user_id)
    found = await store.fetch(_SQL["list_suspicion_history"], *filters, query.limit + 1)
    return [SuspicionEvent(**dict(row)) for row in found]


async def accesses(store: Store, query: AccessQuery) -> list[Access]:
    """The access log, newest first, one row more than the page."""
    filters = (query.before_id, query.moderator_id)
    if query.event_id is None:
        found = await store.fetch(_SQL["list_accesses"], *filters, query.limit + 1)
    else:
        found = await store.fetch(_SQL["list_accesses_of_event"], *filters, query.event_id, query.limit + 1)
    return [Access(**dict(row)) for row in found]
