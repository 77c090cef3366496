"""The pool of connections: who waits is served in order, and nothing that was given up blocks a place."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from prometheus_client import REGISTRY

from horde.store.pool import Pool
from tests.servers import Database


@pytest.fixture
async def pool(empty_database: Database) -> AsyncIterator[Pool]:
    """A pool of two connections."""

    async def connect() -> Any:
        return await asyncpg.connect(empty_database.url)

    made = Pool(connect, 2)
    yield made
    made.terminate()


async def test_connections_are_made_when_needed_and_lent_again(pool: Pool) -> None:
    assert (pool.open(), pool.idle()) == (0, 0)
    first = await pool.acquire(5)
    second = await pool.acquire(5)
    assert (pool.open(), pool.idle()) == (2, 0)
    pool.release(first)
    pool.release(second)
    assert (pool.open(), pool.idle()) == (2, 2)
    assert await pool.acquire(5) is second
    pool.release(second)


async def test_who_waits_longest_is_served_first_and_who_gave_up_takes_no_place(pool: Pool) -> None:
    held = [await pool.acquire(5), await pool.acquire(5)]
    timeouts = REGISTRY.get_sample_value("horde_db_pool_timeout_total") or 0.0
    impatient = asyncio.create_task(pool.acquire(0.01))
    with pytest.raises(TimeoutError):
        await impatient
    assert REGISTRY.get_sample_value("horde_db_pool_timeout_total") == timeouts + 1
    order: list[str] = []

    async def use(name: str) -> None:
        connection = await pool.acquire(5)
        order.append(name)
        pool.release(connection)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(use("a"))
        gone = tasks.create_task(use("gone"))
        tasks.create_task(use("b"))
        await asyncio.sleep(0)
        gone.cancel()
        pool.release(held[0])
    assert order == ["a", "b"]
    pool.release(held[1])
    await asyncio.wait_for(pool.close(), 5)
    assert pool.open() == 0


async def test_a_place_given_to_someone_who_goes_away_goes_on(pool: Pool) -> None:
    held = [await pool.acquire(5), await pool.acquire(5)]
    waiting = asyncio.create_task(pool.acquire(5))
    await asyncio.sleep(0)
    pool.release(held[0])
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    pool.release(held[1])
    first, second = await pool.acquire(5), await pool.acquire(5)
    pool.release(first)
    pool.release(second)
    await asyncio.wait_for(pool.close(), 5)


async def test_a_connection_that_cannot_be_made_takes_no_place() -> None:
    async def connect() -> Any:
        raise OSError("refused")

    pool = Pool(connect, 1)
    for _ in range(3):
        with pytest.raises(OSError, match="refused"):
            await pool.acquire(1)
    await asyncio.wait_for(pool.close(), 5)


async def test_one_whose_statement_was_given_up_is_lent_again_when_the_server_has_dropped_it(pool: Pool) -> None:
    connection = await pool.acquire(5)
    task = asyncio.create_task(connection.execute("BEGIN; SELECT pg_sleep(30)"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    pool.release(connection, upset=True)
    assert pool.idle() == 0
    await asyncio.wait_for(pool.close(), 10)
    assert connection.is_closed()


async def test_one_that_was_closed_meanwhile_is_replaced(pool: Pool) -> None:
    connection = await pool.acquire(5)
    pool.release(connection)
    await connection.close()
    other = await pool.acquire(5)
    assert other is not connection
    assert await other.fetchval("SELECT 1") == 1
    pool.drop(other)
    assert pool.open() == 0
