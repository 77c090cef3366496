"""The pool of connections and the four ways to run a statement.

A statement outside a transaction costs exactly one round trip: no BEGIN, no reset, no check of the connection first.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, Self

import asyncpg
from asyncpg import Record as Record  # noqa: PLC0414 - the one name of the driver that others may use

from horde.failures import StartError
from horde.settings import PostgresSettings
from horde.store import versions
from horde.store.errors import (
    CLOSED,
    KNOWN,
    OUTCOMES,
    StoreUnavailable,
    is_lost_connection,
    translated,
    where,
)
from horde.store.pool import Connection, Pool
from horde.store.queries import Query
from horde.telemetry import tracing
from horde.telemetry.metrics import Counter, Gauge

type Way = Literal["fetch", "fetchrow", "fetchval", "execute"]

_POOL_SIZE = Gauge("horde_store_pool_connections", "Connections of the pool, by what they do.", ("state",))
_RETRIES = Counter("horde_store_read_retries_total", "Reads that were repeated on a fresh connection.")

_CLOSE_SECONDS = 5.0
"""How long a statement may still run after the service itself has drained."""

_PING = Query.load("horde.store", "ping")


class Transaction:
    """One transaction: the same four methods, on one connection. Leaving the block commits; raising rolls back."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def fetch(self, query: Query, *args: object) -> list[Record]:
        """All rows."""
        rows: list[Record] = await _run(self._connection, "fetch", query, args)
        return rows

    async def fetchrow(self, query: Query, *args: object) -> Record | None:
        """The first row, if there is one."""
        row: Record | None = await _run(self._connection, "fetchrow", query, args)
        return row

    async def fetchval(self, query: Query, *args: object) -> Any:
        """The first column of the first row; None without a row."""
        return await _run(self._connection, "fetchval", query, args)

    async def execute(self, query: Query, *args: object) -> int:
        """The number of rows the statement touched."""
        return _row_count(await _run(self._connection, "execute", query, args))


class Store:
    """An open door to Postgres. Raises StoreUnavailable, the two violations, RaisedByFunction; the rest are bugs."""

    def __init__(self, pool: Pool, settings: PostgresSettings) -> None:
        self._pool = pool
        self._wait = settings.database_wait_seconds
        self._url = settings.database_url

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: PostgresSettings, *, application_name: str) -> AsyncIterator[Self]:
        """A pool that connects when first used. `application_name` is what pg_stat_activity shows."""

        async def connect() -> Connection:
            connection = await asyncpg.connect(
                settings.database_url,
                timeout=settings.database_wait_seconds,
                command_timeout=settings.database_statement_seconds,
                statement_cache_size=settings.database_statement_cache,
                server_settings={"application_name": application_name},
            )
            try:
                await _prepare(connection)
            except BaseException:
                connection.terminate()
                raise
            return connection

        pool = Pool(connect, settings.database_pool_size)
        _POOL_SIZE.labels("open").set_function(pool.open)
        _POOL_SIZE.labels("idle").set_function(pool.idle)
        _POOL_SIZE.labels("limit").set(settings.database_pool_size)
        try:
            yield cls(pool, settings)
        finally:
            await _close(pool)

    async def fetch(self, query: Query, *args: object) -> list[Record]:
        """All rows."""
        rows: list[Record] = await self._once_or_again("fetch", query, args)
        return rows

    async def fetchrow(self, query: Query, *args: object) -> Record | None:
        """The first row, if there is one."""
        row: Record | None = await self._once_or_again("fetchrow", query, args)
        return row

    async def fetchval(self, query: Query, *args: object) -> Any:
        """The first column of the first row; None without a row."""
        return await self._once_or_again("fetchval", query, args)

    async def execute(self, query: Query, *args: object) -> int:
        """The number of rows the statement touched."""
        return _row_count(await self._once_or_again("execute", query, args))

    @asynccontextmanager
    async def transaction(self, *, of_one_moment: bool = False) -> AsyncIterator[Transaction]:
        """`async with store.transaction() as tx:` is the only commit. No RPC, Redis or S3 inside.

        `of_one_moment`: all statements see the database as the first one does; none of them may change a row that
        others change.
        """
        with _in_our_words():
            connection = await self._pool.acquire(self._wait)
        is_known = False
        try:
            unit = connection.transaction(isolation="repeatable_read" if of_one_moment else None)
            with _in_our_words():
                await unit.start()
            try:
                yield Transaction(connection)
            except BaseException:
                # Where the connection is gone there is nothing to roll back; the body's own error is the news.
                with suppress(*CLOSED):
                    await unit.rollback()
                    is_known = True
                raise
            with _in_our_words():
                await unit.commit()
            is_known = True
        finally:
            if is_known:
                self._pool.release(connection)
            else:
                self._pool.drop(connection)

    async def ping(self) -> None:
        """Raises StoreUnavailable unless Postgres answers."""
        await self.fetchval(_PING)

    async def check_schema(self) -> None:
        """Raises StartError unless Postgres is reachable and this code works on its schema."""
        floor = None
        try:
            found = await self.fetchval(versions.FOUND)
            if found not in versions.known():
                with suppress(asyncpg.UndefinedTableError):
                    floor = await self.fetchval(versions.FLOOR)
        except StoreUnavailable as error:
            at = versions.place(self._url)
            raise StartError(
                f"Postgres cannot be reached at {at} ({error.detail}); check HORDE_DATABASE_URL"
            ) from error
        except asyncpg.UndefinedTableError:
            found = None
        except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
            raise StartError(f"Postgres refuses us ({error}); check HORDE_DATABASE_URL") from error
        versions.compare(found, floor)

    async def is_newer(self) -> bool:
        """Whether newer code has migrated the database. Raises StoreUnavailable."""
        return await self.fetchval(versions.FOUND) not in versions.known()

    async def _once_or_again(self, way: Way, query: Query, args: tuple[object, ...]) -> Any:
        try:
            return await self._once(way, query, args)
        except Exception as error:
            cause = error.__cause__
            if not (query.reads and isinstance(cause, Exception) and is_lost_connection(cause)):
                raise
        _RETRIES.inc()
        return await self._once(way, query, args)

    async def _once(self, way: Way, query: Query, args: tuple[object, ...]) -> Any:
        started = perf_counter()
        outcome = "error"
        try:
            with tracing.client_span(query.name, query.told), _in_our_words():
                connection = await self._pool.acquire(self._wait)
                upset = False
                try:
                    answer = await getattr(connection, way)(query.sql, *args)
                except (TimeoutError, asyncio.CancelledError):
                    upset = True
                    raise
                finally:
                    self._pool.release(connection, upset=upset)
            outcome = "ok"
            return answer
        except KNOWN as known:
            outcome = OUTCOMES[type(known)]
            raise
        finally:
            query.timings.observe(outcome, perf_counter() - started)


async def _run(connection: Connection, way: Way, query: Query, args: tuple[object, ...]) -> Any:
    """One statement on a connection that somebody else took and gives back."""
    started = perf_counter()
    outcome = "error"
    try:
        with tracing.client_span(query.name, query.told), _in_our_words():
            answer = await getattr(connection, way)(query.sql, *args)
        outcome = "ok"
        return answer
    except KNOWN as known:
        outcome = OUTCOMES[type(known)]
        raise
    finally:
        query.timings.observe(outcome, perf_counter() - started)


class _in_our_words:  # noqa: N801 - used as a statement; a class because a generator costs five times as much
    """Turns the driver's errors into ours. The driver's error stays as the cause."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, Exception):
            known = translated(error)
            if known is not None:
                raise known from error
            if isinstance(error, asyncpg.PostgresError):
                error.add_note(where(error))


async def _prepare(connection: Connection) -> None:
    """JSON columns are text here, in and out: who needs the value decodes it once, with a fast codec, at the edge."""
    for kind in ("json", "jsonb"):
        await connection.set_type_codec(kind, schema="pg_catalog", format="text", encoder=_json_text, decoder=str)


def _json_text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode()


def _row_count(status: str) -> int:
    """`UPDATE 3` is 3; a status without a number (`SET`) is 0."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


async def _close(pool: Pool) -> None:
    """Lets running statements end, for a few seconds at most."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await pool.close()
    except (TimeoutError, *CLOSED):
        pool.terminate()
