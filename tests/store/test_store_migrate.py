"""Migrations: one migrator at a time, and a start that says which of the two is too old."""

import asyncio

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from horde.failures import StartError
from horde.settings import PostgresSettings
from horde.store import Store, versions
from horde.store.migrate import check, set_logins, upgrade
from tests.servers import Database


async def stand_at(url: str, revision: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(f"UPDATE horde_schema_version SET version_num = '{revision}'")  # noqa: S608 - a word of this test
    await connection.close()


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


async def test_a_newer_database_asks_for_newer_code(database: Database) -> None:
    await stand_at(database.url, "9999")
    for attempt in (check, upgrade):
        with pytest.raises(StartError, match="newer than this code"):
            attempt(database.url)
    with pytest.raises(StartError, match="newer than this code"):
        await check_as(database.url_for("horde_dispatch"))


def test_an_older_database_asks_to_be_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "known", lambda: ("0001", "0002"))
    with pytest.raises(StartError, match=r"behind this code .at 0001, wanted 0002.; run `horde migrate`"):
        versions.compare("0001")
    versions.compare("0002")


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
