"""The list of events that nobody has marked: complete at every moment, whoever marks what and takes it back."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from horde.store import queries
from horde.store.migrate import upgrade
from tests.servers import Database

SQL = queries("services.moderation")
REASONS = ["filter_rejection", "model_rejection", "worker_csam"]
BEFORE = "0011"

type Connection = asyncpg.Connection[asyncpg.Record]


@pytest.fixture
async def moderators(database: Database) -> AsyncIterator[list[Connection]]:
    """Two connections as moderation has them, and three events."""
    both = [await asyncpg.connect(database.url_for("horde_moderation")) for _ in range(2)]
    await capture(both[0], 3)
    yield both
    for connection in both:
        await connection.close()


async def capture(connection: Connection, events: int) -> None:
    await connection.execute(
        "INSERT INTO moderation.moderation_events (user_id, reason, outcome, text_state)"
        " SELECT n, 'model_rejection', 'rejected', 'none' FROM generate_series(1, $1::integer) n",
        events,
    )


async def mark(connection: Connection, event: int, moderator: int, what: str = "seen") -> None:
    await connection.execute(SQL["set_mark"].sql, event, moderator, what)


async def take_back(connection: Connection, event: int, moderator: int) -> None:
    await connection.execute(SQL["remove_mark"].sql, event, moderator)


async def page(connection: Connection) -> list[int]:
    rows = await connection.fetch(SQL["pick_unmarked_events"].sql, None, None, REASONS, None, None, 51)
    return [row["id"] for row in rows]


async def listed(connection: Connection) -> list[int]:
    rows = await connection.fetch("SELECT event_id FROM moderation.unmarked_events ORDER BY event_id")
    return [row["event_id"] for row in rows]


async def test_an_event_is_listed_until_it_is_marked_and_again_when_the_mark_is_taken_back(
    moderators: list[Connection],
) -> None:
    one, _ = moderators
    assert await page(one) == [3, 2, 1]
    await mark(one, 2, 7)
    await mark(one, 2, 7, "dismissed")
    assert (await page(one), await listed(one)) == ([3, 1], [1, 3])
    await take_back(one, 2, 7)
    assert await page(one) == [3, 2, 1]


async def test_an_event_of_two_marks_is_listed_when_both_are_taken_back(moderators: list[Connection]) -> None:
    one, _ = moderators
    await mark(one, 2, 7)
    await mark(one, 2, 8)
    await take_back(one, 2, 7)
    assert await page(one) == [3, 1]
    await take_back(one, 2, 8)
    assert await page(one) == [3, 2, 1]


@pytest.mark.parametrize("first_to_commit", [0, 1])
async def test_a_mark_that_is_set_while_another_is_taken_back_leaves_the_list_complete(
    moderators: list[Connection], first_to_commit: int
) -> None:
    one, other = moderators
    await mark(one, 2, 7)
    setting, taking = one.transaction(), other.transaction()
    await setting.start()
    await taking.start()
    await mark(one, 2, 8)
    await take_back(other, 2, 7)
    for transaction in (setting, taking)[:: 1 if first_to_commit == 0 else -1]:
        await transaction.commit()
    assert await page(one) == [3, 1]
    await take_back(one, 2, 8)
    assert await page(one) == [3, 2, 1]


async def test_events_from_before_the_list_are_on_it_after_the_upgrade(empty_database: Database) -> None:
    upgrade(empty_database.url, BEFORE)
    owner = await asyncpg.connect(empty_database.url)
    try:
        await capture(owner, 5)
        for event in (2, 4):
            await mark(owner, event, 7)
        upgrade(empty_database.url)
        assert await listed(owner) == [1, 3, 5]
        await take_back(owner, 4, 7)
        assert await listed(owner) == [1, 3, 4, 5]
    finally:
        await owner.close()
