"""Pages of a hundred thousand events: each filter reads its own index and few rows, however old what it finds is."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from horde.store import queries
from services.moderation import review_repo
from services.moderation.rules.review import EventQuery
from tests.servers import Database

SQL = queries("services.moderation")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ROWS = 100_000
REASONS = ["filter_rejection", "model_rejection", "worker_csam"]
WORKER = UUID(int=7)
CROWD = 5000
"""The account of three events in ten."""
FILL = """
INSERT INTO moderation.moderation_events (created, user_id, proxied_account, worker_id, ipaddr, ip_subject_key, reason,
    outcome, submitted_prompt, text_sha256, text_chars)
SELECT $1::timestamptz - make_interval(secs => (100000 - n) * 315),
       CASE WHEN n % 10 < 3 THEN 5000 ELSE n % 5000 END, CASE WHEN n % 100 = 0 THEN 'service-' || n % 500 END,
       CASE WHEN n % 1000 = 7 THEN lpad(to_hex(n / 1000 % 10), 32, '0')::uuid END,
       CASE WHEN n % 50 = 1 THEN '10.0.' || n / 256 % 256 || '.' || n % 256 END,
       CASE WHEN n % 50 <> 1 THEN encode(sha256((n % 4000)::text::bytea), 'hex') END,
       CASE WHEN n < 40 THEN 'worker_csam' WHEN n % 7 = 0 THEN 'filter_rejection' ELSE 'model_rejection' END,
       CASE WHEN n < 40 THEN 'censored' ELSE 'rejected' END, 'x', repeat('0', 64), 1
FROM generate_series(1, 100000) AS n
"""


@pytest.fixture
async def filled(database: Database) -> Any:
    owner = await asyncpg.connect(database.url)
    await owner.execute("SET synchronous_commit = off")
    await owner.execute(FILL, NOW)
    # what moderators have seen: of the newest week every other event, of the second half of the year one in ten
    await owner.execute(
        "INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark) SELECT id, 1, 'seen' FROM"
        " moderation.moderation_events WHERE (id > 98000 AND id % 2 = 0) OR (id > 50000 AND id % 10 = 0)"
    )
    await owner.execute(
        "VACUUM ANALYZE moderation.moderation_events, moderation.moderation_event_marks, moderation.unmarked_events"
    )
    await owner.close()
    role = await asyncpg.connect(database.url_for("horde_moderation"))
    yield role
    await role.close()


async def plan(role: Any, name: str, *args: Any) -> tuple[set[str], float]:
    """The indexes that a statement's plan reads, and how many rows it looked at."""
    await role.set_type_codec("json", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    explained = await role.fetchval(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {SQL[name].sql}", *args)
    indexes, seen = set(), 0.0

    def walk(node: dict[str, Any]) -> None:
        nonlocal seen
        if "Index Name" in node:
            indexes.add(node["Index Name"])
        if "Relation Name" in node:
            kept = (
                node["Actual Rows"]
                + node.get("Rows Removed by Filter", 0)
                + node.get("Rows Removed by Index Recheck", 0)
            )
            seen += kept * node["Actual Loops"]
        for inner in node.get("Plans", ()):
            walk(inner)

    walk(explained[0]["Plan"])
    return indexes, seen


def general(**given: Any) -> tuple[Any, ...]:
    names = ("before_id", "from_id", "event_id", "user_id", "proxied_account", "worker_id", "seventh", "reasons")
    return (*(given.get(name) for name in (*names, "since", "until")), given.get("unmarked", False), 51)


class Explaining:
    """A transaction that keeps in mind how many rows all its statements looked at."""

    def __init__(self, role: Any) -> None:
        self.role = role
        self.seen = 0.0

    async def fetch(self, query: Any, *args: Any) -> list[Any]:
        self.seen += (await plan(self.role, query.name.removeprefix("moderation."), *args))[1]
        rows: list[Any] = await self.role.fetch(query.sql, *args)
        return rows

    async def fetchrow(self, query: Any, *args: Any) -> Any:
        return (await self.fetch(query, *args))[0]


async def test_every_filter_reads_its_own_index_and_few_rows(filled: Any) -> None:
    key = await filled.fetchval("SELECT encode(sha256('17'::bytea), 'hex')")
    cases: dict[str, tuple[str, tuple[Any, ...], str]] = {
        "none": ("pick_events", general(), "moderation_events_pkey"),
        "cursor": ("pick_events", general(before_id=500), "moderation_events_pkey"),
        "event": ("pick_events", general(event_id=17), "moderation_events_pkey"),
        "user": ("pick_events", general(user_id=17), "ix_moderation_events_user"),
        "proxied": ("pick_events", general(proxied_account="service-100"), "ix_moderation_events_proxied_account_id"),
        "worker": ("pick_events", general(worker_id=WORKER), "ix_moderation_events_worker_id_id"),
        "key": ("pick_events", general(seventh=key), "ix_moderation_events_ip_subject_key_id"),
        "address": ("pick_unkeyed_events", general(seventh="10.0.1.1"), "ix_moderation_events_unkeyed_ipaddr_id"),
        "rare": ("pick_events_of_reasons", (None, REASONS[2:], 51), "ix_moderation_events_reason_id"),
        "reasons": ("pick_events_of_reasons", (None, REASONS, 51), "ix_moderation_events_reason_id"),
        "unmarked": (
            "pick_unmarked_events",
            (None, None, REASONS, None, None, 51),
            "ix_unmarked_events_reason_event_id",
        ),
        "bounds": ("bounds_of_time", (REASONS, NOW - timedelta(days=400), None), "ix_moderation_events_week"),
    }
    for case, (name, args, index) in cases.items():
        indexes, seen = await plan(filled, name, *args)
        assert index in indexes, case
        assert seen <= 400, case


async def test_every_two_filters_together_read_few_rows_wherever_the_page_lies(filled: Any) -> None:
    key = await filled.fetchval("SELECT encode(sha256('17'::bytea), 'hex')")
    filters: Mapping[str, Mapping[str, Any]] = {
        "the account of three in ten": {"user_id": CROWD},
        "an account": {"user_id": 17},
        "a proxied account": {"proxied_account": "service-100"},
        "a worker": {"worker_id": WORKER},
        "a pseudonym": {"ip_subject_key": key},
        "an address": {"address": "10.0.1.1"},
        "a rare reason": {"reasons": REASONS[2:]},
        "a frequent reason": {"reasons": REASONS[1:2]},
        "an old day": {"since": NOW - timedelta(days=200), "until": NOW - timedelta(days=199)},
        "the newest day": {"since": NOW - timedelta(days=1)},
        "a year": {"since": NOW - timedelta(days=364)},
        "before the last half year": {"until": NOW - timedelta(days=180)},
        "unmarked": {"unmarked": True},
    }
    # what two weeks hold, for no time is narrower than the week it lies in
    enough = 2 * 7 * 24 * 12 + 1000
    too_many: dict[tuple[str, str, int | None], float] = {}
    times = {"since", "until"}
    for (one, first), (other, second) in combinations(filters.items(), 2):
        if first.keys() & times and second.keys() & times:
            continue
        for before_id in (None, 60_000, 2_000):
            query = EventQuery(limit=50, before_id=before_id, **{**first, **second})
            at: Any = Explaining(filled)
            subject = "10.0.1.1" if query.address else None
            await review_repo.pick(at, query, subject=subject, subject_key=key if subject else None)
            too_many |= {(one, other, before_id): at.seen} if at.seen > enough else {}
    assert too_many == {}


async def test_a_page_between_two_moments_costs_the_same_wherever_it_lies(filled: Any) -> None:
    for since, until in ((None, 5), (None, 200), (None, 360), (2, None), (200, 190), (364, 1), (0, None)):
        bounds = tuple(None if days is None else NOW - timedelta(days=days) for days in (since, until))
        indexes, seen = await plan(filled, "pick_events_in_time", None, REASONS, *bounds, 51)
        assert "moderation_events_pkey" not in indexes, (since, until)
        # a page of each week and reason, and of the outer weeks what lies before the moments: a year has 53 weeks
        assert seen <= 53 * 3 * 51 + 2 * 7 * 24 * 12 + 100, (since, until)


async def test_what_is_left_to_look_at_costs_the_same_however_much_was_looked_at_before(filled: Any) -> None:
    mark = (
        "INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark) SELECT id, 2, 'seen' FROM"
        " moderation.moderation_events WHERE id > 20000"
    )
    for reasons in (REASONS, REASONS[1:2]):
        undone = filled.transaction()
        await undone.start()
        await filled.execute(mark)
        found = await filled.fetch(SQL["pick_unmarked_events"].sql, None, None, reasons, None, None, 51)
        _, seen = await plan(filled, "pick_unmarked_events", None, None, reasons, None, None, 51)
        await undone.rollback()
        assert found[0]["id"] in range(19_980, 20_001)
        assert seen <= 800


async def test_the_listing_of_a_page_reads_only_the_page(filled: Any) -> None:
    ids = list(range(500, 550))
    for name in ("read_events", "read_notes", "read_marks"):
        _, seen = await plan(filled, name, ids)
        assert seen <= 600, name


async def test_all_ways_to_pick_agree_with_a_plain_reading(filled: Any) -> None:
    plain = "SELECT id FROM moderation.moderation_events WHERE {} ORDER BY id DESC LIMIT 51"
    since, until = NOW - timedelta(days=210), NOW - timedelta(days=199, hours=5)
    expected = await filled.fetch(
        plain.format("created >= $1 AND created < $2 AND reason = $3"), since, until, REASONS[0]
    )
    found = await filled.fetch(SQL["pick_events_in_time"].sql, None, REASONS[:1], since, until, 51)
    assert found == expected
    expected = await filled.fetch(plain.format("reason = ANY ($1) AND id < 70"), REASONS[::2])
    found = await filled.fetch(SQL["pick_events_of_reasons"].sql, 70, REASONS[::2], 51)
    assert found == expected
