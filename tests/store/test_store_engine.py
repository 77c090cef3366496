"""The store on a real Postgres: its four methods, its errors, and what it does when Postgres goes away."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import asyncpg
import pytest

from horde.failures import StartError
from horde.settings import PostgresSettings
from horde.store import Query, RaisedByFunction, Store, StoreUnavailable, UniqueViolation
from tests.fakes.fault_proxy import FaultProxy
from tests.fakes.patience import until
from tests.servers import Database, Restartable


def q(statement: str) -> Query:
    """A statement of the test's own, declared as its file would be."""
    count = max([0, *(number for number in range(1, 10) if f"${number}" in statement)])
    header = "\n".join(["-- x: of a test.", *(f"-- ${number} p{number} any" for number in range(1, count + 1))])
    return Query.parse("test", f"{header}\n{statement}")


@asynccontextmanager
async def opened(url: str, **settings: float) -> AsyncIterator[Store]:
    async with Store.open(
        PostgresSettings.model_validate({"database_url": url, "database_pool_size": 4, **settings}),
        application_name="test",
    ) as store:
        yield store


async def made(store: Store) -> None:
    await store.execute(
        q("CREATE TABLE things (id int CONSTRAINT things_pk PRIMARY KEY, body jsonb, at timestamptz, u uuid)")
    )


async def test_the_four_ways_to_run_a_statement(empty_database: Database) -> None:
    async with opened(empty_database.url) as store:
        await made(store)
        assert await store.execute(q("INSERT INTO things (id) SELECT generate_series(1, $1::int)"), 3) == 3
        assert [row["id"] for row in await store.fetch(q("SELECT id FROM things ORDER BY id"))] == [1, 2, 3]
        assert await store.fetchrow(q("SELECT id FROM things WHERE id = $1"), 9) is None
        assert await store.fetchval(q("SELECT count(*) FROM things")) == 3
        assert await store.execute(q("UPDATE things SET body = NULL WHERE id > $1"), 1) == 2


async def test_json_passes_as_text_and_uuid_and_time_as_themselves(empty_database: Database) -> None:
    at, u = datetime(2026, 11, 30, 12, tzinfo=UTC), uuid.uuid4()
    async with opened(empty_database.url) as store:
        await made(store)
        put = q("INSERT INTO things (id, body, at, u) VALUES ($1, $2, $3, $4)")
        await store.execute(put, 1, '{"a": "ä"}', at, u)
        await store.execute(put, 2, b"[1, 2.50]", at, u)
        rows = await store.fetch(q("SELECT body, at, u FROM things ORDER BY id"))
    assert [row["body"] for row in rows] == ['{"a": "ä"}', "[1, 2.50]"]
    assert (rows[0]["at"], rows[0]["u"]) == (at, u)


async def test_a_transaction_commits_at_its_end_and_rolls_back_when_something_raises(empty_database: Database) -> None:
    async with opened(empty_database.url) as store:
        await made(store)
        async with store.transaction() as tx:
            assert await tx.execute(q("INSERT INTO things (id) VALUES (1)")) == 1
        with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is the transaction under test
            async with store.transaction() as tx:
                await tx.execute(q("INSERT INTO things (id) VALUES (2)"))
                raise ZeroDivisionError
        assert await store.fetchval(q("SELECT array_agg(id) FROM things")) == [1]


async def test_a_unique_violation_names_its_constraint(empty_database: Database) -> None:
    async with opened(empty_database.url) as store:
        await made(store)
        put = q("INSERT INTO things (id) VALUES (1)")
        await store.execute(put)
        with pytest.raises(UniqueViolation) as caught:
            await store.execute(put)
        assert caught.value.constraint == "things_pk"
        with pytest.raises(UniqueViolation):
            async with store.transaction() as tx:
                await tx.execute(put)
        assert await store.fetchval(q("SELECT count(*) FROM things")) == 1


async def test_what_our_functions_raise_arrives_with_code_and_detail(empty_database: Database) -> None:
    body = "$body$ BEGIN RAISE EXCEPTION 'too poor' USING ERRCODE = 'HD001', DETAIL = '{\"missing\": 5}'; END $body$"
    async with opened(empty_database.url) as store:
        connection = await asyncpg.connect(empty_database.url)
        await connection.execute(f"CREATE FUNCTION spend_v1() RETURNS void LANGUAGE plpgsql AS {body}")
        await connection.close()
        with pytest.raises(RaisedByFunction) as caught:
            await store.fetchval(q("SELECT spend_v1()"))
    assert (caught.value.code, caught.value.message, caught.value.detail) == ("HD001", "too poor", '{"missing": 5}')


async def test_a_bug_in_a_statement_is_no_outage(empty_database: Database) -> None:
    async with opened(empty_database.url) as store:
        with pytest.raises(asyncpg.UndefinedTableError):
            await store.fetch(q("SELECT * FROM nowhere"))
        with pytest.raises(asyncpg.InterfaceError):
            await store.fetch(q("SELECT $1::int"))


async def test_a_statement_outside_a_transaction_is_one_round_trip(empty_database: Database) -> None:
    async with opened(empty_database.url, database_pool_size=1) as store:
        await store.ping()
        before = await store.fetchval(q("SELECT pg_backend_pid()"))
        await store.fetch(q("SELECT 1"))
        seen = await store.fetchval(q("SELECT query FROM pg_stat_activity WHERE pid = $1"), before)
        assert "pg_advisory_unlock_all" not in seen
        assert await store.fetchval(q("SELECT pg_backend_pid()")) == before


async def test_a_busy_pool_is_an_outage_after_the_wait(empty_database: Database) -> None:
    async with (
        opened(empty_database.url, database_pool_size=1, database_wait_seconds=1) as store,
        store.transaction(),
    ):
        with pytest.raises(StoreUnavailable):
            await store.ping()


async def test_a_slow_statement_is_cancelled_and_the_connection_lives_on(empty_database: Database) -> None:
    async with opened(empty_database.url, database_statement_seconds=1) as store:
        with pytest.raises(StoreUnavailable):
            await store.fetchval(q("SELECT pg_sleep(30)"))
        await store.ping()


async def test_reads_recover_when_their_connections_are_reset_and_writes_say_so(empty_database: Database) -> None:
    holder = await asyncpg.connect(empty_database.url)
    async with FaultProxy.before(empty_database.url) as proxy, opened(proxy.url(empty_database.url)) as store:
        await made(store)
        await asyncio.gather(*(store.fetchval(q("SELECT pg_sleep(0.05)")) for _ in range(4)))
        proxy.reset_all()
        await store.ping()
        await holder.execute("SELECT pg_advisory_lock(1)")
        reading = asyncio.create_task(store.fetchval(q("SELECT 7 FROM pg_advisory_xact_lock(1)")))
        writing = asyncio.create_task(
            store.execute(q("INSERT INTO things (id) SELECT 1 FROM pg_advisory_xact_lock(1)"))
        )

        async def both_are_under_way() -> bool:
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            count: int = await holder.fetchval(waiting)
            return count == 2

        await until(both_are_under_way)
        proxy.reset_all()
        with pytest.raises(StoreUnavailable):
            await writing
        await holder.execute("SELECT pg_advisory_unlock(1)")
        assert await reading == 7
    await holder.close()


async def test_a_transaction_whose_connection_is_reset_is_an_outage(empty_database: Database) -> None:
    async with FaultProxy.before(empty_database.url) as proxy, opened(proxy.url(empty_database.url)) as store:
        await made(store)
        with pytest.raises(StoreUnavailable):  # noqa: PT012 - the block is the transaction under test
            async with store.transaction() as tx:
                await tx.execute(q("INSERT INTO things (id) VALUES (1)"))
                proxy.reset_all()
                await asyncio.sleep(0.05)
        assert await store.fetchval(q("SELECT count(*) FROM things")) == 0


async def test_a_cancelled_transaction_leaves_nothing_behind_and_its_connection_usable(
    empty_database: Database,
) -> None:
    async with opened(empty_database.url, database_pool_size=1) as store:
        await made(store)
        inside = asyncio.Event()

        async def work() -> None:
            async with store.transaction() as tx:
                await tx.execute(q("INSERT INTO things (id) VALUES (1)"))
                inside.set()
                await tx.fetchval(q("SELECT pg_sleep(30)"))

        task = asyncio.create_task(work())
        await inside.wait()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.fetchval(q("SELECT count(*) FROM things")) == 0


async def test_reads_recover_after_postgres_was_killed_and_started_again(restartable_postgres: Restartable) -> None:
    async with opened(restartable_postgres.url) as store:
        await store.ping()
        await asyncio.to_thread(restartable_postgres.kill)
        with pytest.raises(StoreUnavailable):
            await store.ping()
        with pytest.raises(StartError, match="cannot be reached"):
            await store.check_schema()
        await asyncio.to_thread(restartable_postgres.start)
        await store.ping()


async def test_a_store_opens_while_postgres_is_away() -> None:
    async with opened("postgresql://nobody@127.0.0.1:1/none") as store:
        with pytest.raises(StoreUnavailable):
            await store.ping()
