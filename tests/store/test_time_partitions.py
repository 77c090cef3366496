"""Statistics of generations lie in months: each is made in time, none is lost, and retention drops whole ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from horde.store import StoreUnavailable
from horde.store.migrate import upgrade
from services.dispatch.repo import upkeep as repo
from tests.servers import Database

ADD = (
    "INSERT INTO dispatch.text_gen_stats"
    " (started, finished, model, max_length, max_context_length, prompt_length, state)"
    " SELECT at, at, 'm', 80, 2048, 1, 'OK' FROM unnest($1::timestamptz[]) AS at"
)
PARTITIONS = (
    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'dispatch.text_gen_stats'::regclass ORDER BY 1"
)
COUNTS = "SELECT tableoid::regclass::text AS part, count(*) AS rows FROM dispatch.text_gen_stats GROUP BY 1"
NOW = datetime(2031, 5, 10, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=5000)


@asynccontextmanager
async def owner(database: Database) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(database.url)
    try:
        yield connection
    finally:
        await connection.close()


async def partitions(connection: "asyncpg.Connection[asyncpg.Record]") -> set[str]:
    return {row[0].removeprefix("dispatch.text_gen_stats_") for row in await connection.fetch(PARTITIONS)}


async def counts(connection: "asyncpg.Connection[asyncpg.Record]") -> dict[str, int]:
    return {row["part"].removeprefix("dispatch.text_gen_stats_"): row["rows"] for row in await connection.fetch(COUNTS)}


async def keep(database: Database, now: datetime, keep_from: datetime = LONG_AGO) -> list[str]:
    async with database.store("horde_dispatch") as store:
        return await repo.keep_stats_months(store, now, keep_from=keep_from)


async def fold(connection: "asyncpg.Connection[asyncpg.Record]", through: datetime) -> None:
    await connection.execute("UPDATE dispatch.text_stats_compiled SET through = $1", through)


async def test_this_month_and_the_next_are_made_once(database: Database) -> None:
    async with owner(database) as connection:
        for _ in range(2):
            assert await keep(database, NOW) == []
            assert await partitions(connection) == {"before", "rest", "2031_05", "2031_06"}
        await connection.execute(ADD, [NOW, NOW + timedelta(days=30)])
        assert await counts(connection) == {"2031_05": 1, "2031_06": 1}


async def test_two_replicas_at_once_make_each_month_once(database: Database) -> None:
    await asyncio.gather(*(keep(database, NOW) for _ in range(4)))
    async with owner(database) as connection:
        assert await partitions(connection) == {"before", "rest", "2031_05", "2031_06"}


async def test_what_came_before_its_month_was_made_is_not_lost(database: Database) -> None:
    async with owner(database) as connection:
        await connection.execute(ADD, [NOW, NOW + timedelta(days=1), NOW + timedelta(days=60)])
        assert await counts(connection) == {"rest": 3}
        await keep(database, NOW)
        assert await counts(connection) == {"2031_05": 2, "rest": 1}


async def test_retention_drops_the_months_that_ended_before_it_and_no_other(database: Database) -> None:
    async with owner(database) as connection:
        for months_ago in (3, 2, 1, 0):
            at = NOW - timedelta(days=30 * months_ago)
            await keep(database, at)
            await connection.execute(ADD, [at])
        await fold(connection, NOW)
        dropped = await keep(database, NOW, keep_from=datetime(2031, 4, 1, tzinfo=UTC))
        assert sorted(dropped) == ["text_gen_stats_2031_02", "text_gen_stats_2031_03", "text_gen_stats_before"]
        assert await partitions(connection) == {"rest", "2031_04", "2031_05", "2031_06"}
        assert await counts(connection) == {"2031_04": 1, "2031_05": 1}


async def test_a_month_that_is_not_folded_into_the_sums_stays(database: Database) -> None:
    async with owner(database) as connection:
        await keep(database, NOW - timedelta(days=90))
        await connection.execute(ADD, [NOW - timedelta(days=90)])
        await fold(connection, datetime(2031, 2, 20, tzinfo=UTC))
        await keep(database, NOW, keep_from=NOW)
        assert (await counts(connection))["2031_02"] == 1


async def test_a_busy_table_is_left_to_the_next_pass(database: Database) -> None:
    await keep(database, NOW - timedelta(days=90))
    async with owner(database) as connection:
        await fold(connection, NOW)
        async with connection.transaction():
            await connection.execute("SELECT count(*) FROM dispatch.text_gen_stats")
            with pytest.raises(StoreUnavailable):
                await keep(database, NOW, keep_from=NOW)
            assert "2031_02" in await partitions(connection)
        await keep(database, NOW, keep_from=NOW)
        assert "2031_02" not in await partitions(connection)


async def test_the_migration_keeps_every_row_and_takes_writes_while_it_looks_at_them(empty_database: Database) -> None:
    await asyncio.to_thread(upgrade, empty_database.url, "0006")
    now = datetime.now(UTC)
    async with owner(empty_database) as connection:
        await connection.execute(ADD, [now - timedelta(days=day) for day in range(400)])
        before = await connection.fetchval("SELECT max(id) FROM dispatch.text_gen_stats")
        await asyncio.to_thread(upgrade, empty_database.url)
        assert await counts(connection) == {"before": 400}
        await connection.execute(ADD, [now, now + timedelta(hours=20)])
        assert await counts(connection) == {"before": 402}
        assert (
            await connection.fetchval("SELECT min(id) FROM dispatch.text_gen_stats WHERE id > $1", before) == before + 1
        )
        rules = "SELECT count(*) FROM pg_constraint WHERE conname = 'ck_text_gen_stats_before'"
        assert await connection.fetchval(rules) == 0


async def test_a_migration_that_was_cut_short_before_the_swap_goes_on(empty_database: Database) -> None:
    await asyncio.to_thread(upgrade, empty_database.url, "0006")
    async with owner(empty_database) as connection:
        await connection.execute(
            "ALTER TABLE dispatch.text_gen_stats"
            " ADD CONSTRAINT ck_text_gen_stats_before CHECK (finished < '2026-12-01') NOT VALID"
        )
        await asyncio.to_thread(upgrade, empty_database.url)
        assert await partitions(connection) == {"before", "rest"}
