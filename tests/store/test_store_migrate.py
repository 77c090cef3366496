"""Migrations: one migrator at a time, and a start that says which of the two is too old."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from horde.failures import StartError
from horde.settings import PostgresSettings
from horde.store import Store, migrate, versions
from horde.store.migrate import check, set_logins, upgrade
from tests.fakes.patience import until
from tests.servers import Database


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def stand_at(url: str, revision: str, floor: str | None) -> None:
    """As if code that we don't have had migrated it; `floor` None: code from before there was a floor."""
    async with connected(url) as connection:
        await connection.execute("UPDATE horde_schema_version SET version_num = $1", revision)
        if floor is None:
            await connection.execute("DROP TABLE horde_schema_floor")
        else:
            await connection.execute("UPDATE horde_schema_floor SET version_num = $1", floor)


async def check_as(url: str) -> None:
    async with Store.open(PostgresSettings(database_url=url), application_name="test") as store:
        await store.check_schema()


async def test_two_migrators_at_once_make_one_schema(empty_database: Database) -> None:
    await asyncio.gather(*(asyncio.to_thread(upgrade, empty_database.url) for _ in range(2)))
    check(empty_database.url)


def test_a_second_upgrade_changes_nothing(database: Database) -> None:
    upgrade(database.url)
    check(database.url)


async def test_an_empty_database_asks_to_be_migrated(empty_database: Database) -> None:
    with pytest.raises(StartError, match="empty; run `horde migrate`"):
        check(empty_database.url)
    with pytest.raises(StartError, match="empty; run `horde migrate`"):
        await check_as(empty_database.url)


async def test_a_service_may_see_whether_the_schema_fits(database: Database) -> None:
    for role in ("horde_admission", "horde_dispatch", "horde_moderation"):
        await check_as(database.url_for(role))


async def test_code_before_the_floor_of_a_newer_database_is_asked_to_be_upgraded(database: Database) -> None:
    await stand_at(database.url, "9999", floor="9998")
    for attempt in (check, upgrade):
        with pytest.raises(StartError, match="at 9999, which wants code of 9998 at least; known up to"):
            attempt(database.url)
    with pytest.raises(StartError, match="newer than this code"):
        await check_as(database.url_for("horde_dispatch"))


async def test_code_works_on_a_newer_database_that_was_only_expanded(database: Database) -> None:
    await stand_at(database.url, "9999", floor=versions.known()[-1])
    check(database.url)
    upgrade(database.url)
    for role in ("horde_admission", "horde_dispatch", "horde_moderation"):
        await check_as(database.url_for(role))
    async with connected(database.url) as connection:
        assert await connection.fetchval("SELECT version_num FROM horde_schema_version") == "9999"


async def test_a_newer_database_that_tells_no_floor_asks_for_newer_code(database: Database) -> None:
    await stand_at(database.url, "9999", floor=None)
    with pytest.raises(StartError, match="newer than this code"):
        check(database.url)
    with pytest.raises(StartError, match="newer than this code"):
        await check_as(database.url_for("horde_dispatch"))


async def test_the_floor_is_written_by_the_migrator_and_never_lowered(empty_database: Database) -> None:
    upgrade(empty_database.url, to="0001")
    async with connected(empty_database.url) as connection:
        assert await connection.fetchval("SELECT version_num FROM horde_schema_floor") == versions.floor()
        await connection.execute("UPDATE horde_schema_floor SET version_num = '0007'")
        upgrade(empty_database.url)
        assert await connection.fetchval("SELECT version_num FROM horde_schema_floor") == max("0007", versions.floor())


async def test_a_revision_gives_way_when_a_table_is_busy_and_changes_nothing(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(empty_database.url, to="0002")
    monkeypatch.setattr(migrate, "_LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migrate, "_TRIES", 2)
    async with connected(empty_database.url) as connection:
        async with connection.transaction():
            await connection.execute("LOCK TABLE dispatch.waiting_prompts IN ROW EXCLUSIVE MODE")
            with pytest.raises(StartError, match="a table stayed busy; nothing was changed"):
                await asyncio.to_thread(upgrade, empty_database.url)
            assert await connection.fetchval("SELECT version_num FROM horde_schema_version") == "0002"
        await asyncio.to_thread(upgrade, empty_database.url)
    check(empty_database.url)


INDEX = "ix_users_monthly_unpaid"
ADD_USER = "INSERT INTO admission.users (username, oauth_id, api_key) VALUES ($1, $1, $1)"


async def test_an_index_that_was_cut_short_is_built_anew(empty_database: Database) -> None:
    upgrade(empty_database.url, to="0007")
    async with connected(empty_database.url) as connection:
        for name in "ab":
            await connection.execute(ADD_USER, name)
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {INDEX} ON admission.users ((1))")
        is_valid = f"SELECT indisvalid FROM pg_index WHERE indexrelid = 'admission.{INDEX}'::regclass"  # noqa: S608 - words of this test
        assert await connection.fetchval(is_valid) is False
        await asyncio.to_thread(upgrade, empty_database.url)
        assert await connection.fetchval(is_valid) is True
    check(empty_database.url)


async def test_an_index_is_built_while_its_table_is_written_to(empty_database: Database) -> None:
    upgrade(empty_database.url, to="0007")
    async with connected(empty_database.url) as writing, connected(empty_database.url) as other:
        async with writing.transaction():
            await writing.execute(ADD_USER, "a")
            building = asyncio.create_task(asyncio.to_thread(upgrade, empty_database.url))
            waits = (
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%CREATE INDEX%' AND wait_event_type = 'Lock'"
            )
            await until(lambda: _is_so(other, waits))
            await other.execute(ADD_USER, "b")
            assert not building.done()
        await building
    check(empty_database.url)


async def _is_so(connection: "asyncpg.Connection[asyncpg.Record]", question: str) -> bool:
    return bool(await connection.fetchval(question))


def test_an_older_database_asks_to_be_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "known", lambda: ("0001", "0002"))
    with pytest.raises(StartError, match=r"behind this code .at 0001, wanted 0002.; run `horde migrate`"):
        versions.compare("0001", "0001")
    versions.compare("0002", "0001")


def test_the_names_of_the_revisions_say_what_alembic_says() -> None:
    config = Config()
    config.set_main_option("script_location", "horde/store/migrations")
    chain = [revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()]
    assert versions.known() == tuple(reversed(chain))


async def test_a_password_with_every_sign_lets_a_role_in(database: Database) -> None:
    password = 'it\'s "odd" $1 %s \\ ü'
    set_logins(database.url, {"horde_dispatch": password})
    try:
        connection = await asyncpg.connect(database.url_for("horde_dispatch"), password=password)
        await connection.close()
    finally:
        set_logins(database.url, {"horde_dispatch": "for-tests"})


def test_no_database_is_one_sentence() -> None:
    with pytest.raises(StartError, match="Postgres cannot be reached"):
        check("postgresql://nobody@127.0.0.1:1/none")
