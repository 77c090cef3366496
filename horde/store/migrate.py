"""Brings a database to the schema of this code, and gives the roles of the services their logins.

Everything here is called by the command line and by tests, never by a service. The functions block, and may be
called from inside or outside an event loop.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from horde.failures import StartError
from horde.store import versions
from horde.store.errors import CLOSED
from horde.store.queries import queries
from horde.telemetry import logs

log = logs.get(__name__)

_LOCK = 0x686F726465
"""The advisory lock of migrations: "horde" in hexadecimal."""

_LOCK_TIMEOUT = "4s"
"""A revision that waits longer for a table than this gives way: behind its waiting lock all traffic would stand."""

_TRIES = 5
"""How often a revision that gave way is tried again, a second apart, before the operator is asked."""

_TURN_SECONDS = 0.2
"""Between two looks whether another migrator has finished."""

_SQL = queries("horde.store")


def upgrade(url: str, to: str = "head") -> None:
    """Runs the missing revisions, up to `to`. A newer database on which this code works is left as it is.

    Raises StartError when Postgres cannot be reached, a table stays busy, or the database is too new for this code.
    """
    _wait_for(_upgrade(url, to))


def check(url: str) -> None:
    """Raises StartError unless this code works on the database: it is at our newest revision, or newer and fits."""
    _wait_for(_check(url))


def set_logins(url: str, passwords: Mapping[str, str]) -> None:
    """Lets each role log in with its password. The roles are made by the first revision."""
    _wait_for(_set_logins(url, passwords))


def _wait_for(work: Coroutine[Any, Any, None]) -> None:
    """Runs in a thread of its own: asyncio.run refuses where a loop runs already, as it does in tests."""
    with ThreadPoolExecutor(1, thread_name_prefix="migrate") as thread:
        thread.submit(asyncio.run, work).result()


async def _connect(url: str) -> "asyncpg.Connection[asyncpg.Record]":
    try:
        return await asyncpg.connect(
            url, timeout=10, server_settings={"application_name": "horde-migrate", "lock_timeout": _LOCK_TIMEOUT}
        )
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        at = versions.place(url)
        raise StartError(f"Postgres cannot be reached at {at} ({error}); check HORDE_DATABASE_URL") from error


async def _upgrade(url: str, to: str) -> None:
    guard = await _connect(url)
    try:
        while not await guard.fetchval(_SQL["lock_migrations"].sql, _LOCK):  # noqa: ASYNC110 - another process has it
            await asyncio.sleep(_TURN_SECONDS)
        found, floor = await _found(guard)
        if found is not None and found not in versions.known():
            versions.compare(found, floor)
            return
        # Before the revisions: code that they end must not start once the first of them has run.
        await guard.execute(_SQL["make_floor"].sql)
        await guard.execute(_SQL["raise_floor"].sql, versions.floor())
        for attempt in range(1, _TRIES + 1):
            try:
                await _run_revisions(url, to)
                break
            except asyncpg.LockNotAvailableError as error:
                if attempt == _TRIES:
                    raise StartError("a table stayed busy; nothing was changed, run `horde migrate` again") from error
                log.warning("a table is busy; trying again", attempt=attempt)
                await asyncio.sleep(1)
        await guard.execute(_SQL["grant_version"].sql)
    finally:
        await guard.close()


async def _run_revisions(url: str, to: str) -> None:
    async def connect() -> "asyncpg.Connection[asyncpg.Record]":
        return await _connect(url)

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(_to, to)
            await connection.commit()
    finally:
        await engine.dispose()


def _to(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


async def _check(url: str) -> None:
    connection = await _connect(url)
    try:
        found, floor = await _found(connection)
    finally:
        await connection.close()
    versions.compare(found, floor)


async def _found(connection: "asyncpg.Connection[asyncpg.Record]") -> tuple[str | None, str | None]:
    """Where the database stands, and the floor it tells."""
    told: list[str | None] = []
    for query in (versions.FOUND, versions.FLOOR):
        try:
            told.append(await connection.fetchval(query.sql))
        except asyncpg.UndefinedTableError:
            told.append(None)
    found, floor = told
    return found, floor


async def _set_logins(url: str, passwords: Mapping[str, str]) -> None:
    connection = await _connect(url)
    try:
        for role, password in passwords.items():
            statement: str = await connection.fetchval(_SQL["alter_role"].sql, role, password)
            await connection.execute(statement)
    except CLOSED as error:
        raise StartError(f"the logins could not be set ({error})") from error
    finally:
        await connection.close()
