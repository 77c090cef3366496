"""Pages beside writers: what a page says is of one moment, and a cursor neither repeats an event nor misses one."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import asyncpg
import pytest

from services.moderation import review_repo
from services.moderation.rules.review import EventQuery
from tests.fakes.evidence import House, house
from tests.servers import Database

CAPTURE = (
    "INSERT INTO moderation.moderation_events (user_id, reason, outcome, submitted_prompt, text_sha256, text_chars)"
    " VALUES (7, 'model_rejection', 'rejected', 'words', repeat('0', 64), 5) RETURNING id"
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SCATTER = """
INSERT INTO moderation.moderation_events (created, user_id, proxied_account, ip_subject_key, ipaddr, reason, outcome,
    submitted_prompt, text_sha256, text_chars)
SELECT $1::timestamptz - make_interval(hours => n * 7919 % 8760), n % 3, CASE WHEN n % 2 = 0 THEN 'somebody' END,
       CASE WHEN n % 5 < 3 THEN repeat('a', 64) END, CASE WHEN n % 4 = 0 THEN '1.2.3.4' END,
       CASE WHEN n % 7 = 0 THEN 'filter_rejection' ELSE 'model_rejection' END, 'rejected', 'words', repeat('0', 64), 5
FROM generate_series(1, 300) AS n
"""
"""Ids that have nothing to do with time."""


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def page(home: House, before_id: int | None = None, limit: int = 50, **filters: Any) -> list[int]:
    async with home.store.transaction(of_one_moment=True) as tx:
        query = EventQuery(limit=limit, before_id=before_id, **filters)
        return (await review_repo.pick(tx, query, subject=None, subject_key=None))[:limit]


async def test_a_note_written_while_a_page_is_read_is_on_none_of_it(home: House) -> None:
    event = await home.event()
    async with home.store.transaction(of_one_moment=True) as tx:
        before = await review_repo.read(tx, [event])
        await home.note(event)
        notes, after = await review_repo.notes(tx, [event]), await review_repo.read(tx, [event])
    assert ([one.hold_source for one in (*before, *after)], notes) == ([None, None], {})
    async with home.store.transaction(of_one_moment=True) as tx:
        (held,) = await review_repo.read(tx, [event])
        assert [note.note for note in (await review_repo.notes(tx, [event]))[event]] == ["kept"]
    assert held.hold_source == "note"


@pytest.mark.parametrize("filters", [{}, {"user_id": 7}, {"reasons": ["model_rejection"]}, {"unmarked": True}])
async def test_an_event_committed_below_newer_ones_is_on_its_page_and_no_event_is_on_two(
    database: Database, home: House, filters: dict[str, Any]
) -> None:
    oldest = await home.event()
    writer = await asyncpg.connect(database.url)
    try:
        late = writer.transaction()
        await late.start()
        below = await writer.fetchval(CAPTURE)
        newest = await home.event()
        assert oldest < below < newest
        first = await page(home, limit=1, **filters)
        await late.commit()
        newer = await home.event()
        second = await page(home, before_id=first[-1], **filters)
    finally:
        await writer.close()
    assert (first, second) == ([newest], [below, oldest])
    assert await page(home, **filters) == [newer, newest, below, oldest]


def is_wanted(row: Any, marked: set[int], query: EventQuery) -> bool:
    """A plain reading of what the filters mean; the address is 1.2.3.4, its pseudonym sixty-four a."""
    return (
        (query.before_id is None or row["id"] < query.before_id)
        and (query.user_id is None or row["user_id"] == query.user_id)
        and (query.proxied_account is None or row["proxied_account"] == query.proxied_account)
        and (query.ip_subject_key is None or row["ip_subject_key"] == query.ip_subject_key)
        and (not query.reasons or row["reason"] in query.reasons)
        and (query.since is None or row["created"] >= query.since)
        and (query.until is None or row["created"] < query.until)
        and not (query.unmarked and row["id"] in marked)
        and (not query.address or row["ip_subject_key"] is not None or row["ipaddr"] == query.address)
    )


async def test_every_two_filters_find_what_a_plain_reading_finds(home: House) -> None:
    await home.owner.execute(SCATTER, NOW)
    mark = "INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark) SELECT id, 1, 'seen'"
    await home.owner.execute(f"{mark} FROM moderation.moderation_events WHERE id % 3 = 0")
    rows = await home.owner.fetch("SELECT * FROM moderation.moderation_events ORDER BY id DESC")
    marked = {row["id"] for row in rows if row["id"] % 3 == 0}
    filters: list[dict[str, Any]] = [
        {"user_id": 1},
        {"proxied_account": "somebody"},
        {"ip_subject_key": "a" * 64},
        {"address": "1.2.3.4"},
        {"reasons": ["filter_rejection"]},
        {"reasons": ["model_rejection", "worker_csam", "model_rejection"]},
        {"since": NOW - timedelta(days=100, hours=3)},
        {"until": NOW - timedelta(days=100)},
        {"since": NOW - timedelta(days=90), "until": NOW - timedelta(days=80)},
        {"since": NOW + timedelta(days=1)},
        {"unmarked": True},
    ]
    for one, other in combinations([{}, *filters], 2):
        for before_id in (None, 150):
            query = EventQuery(limit=100, before_id=before_id, **{**one, **other})
            subject = ("1.2.3.4", "a" * 64) if query.address else (None, None)
            async with home.store.transaction(of_one_moment=True) as tx:
                found = await review_repo.pick(tx, query, subject=subject[0], subject_key=subject[1])
            expected = [row["id"] for row in rows if is_wanted(row, marked, query)]
            assert found == expected[:101], (one, other, before_id)


@pytest.mark.parametrize("filters", [{}, {"user_id": 7}, {"unmarked": True}])
async def test_all_of_time_holds_nothing_while_there_are_no_events(home: House, filters: dict[str, Any]) -> None:
    ages: dict[str, Any] = {"since": datetime(1, 1, 1, tzinfo=UTC), "until": datetime(9999, 1, 1, tzinfo=UTC)}
    assert await page(home, **ages, **filters) == []
