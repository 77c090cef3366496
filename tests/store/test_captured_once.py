"""What was captured of an event may be removed and never changed; the database sees to it, whoever asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from services.moderation.rules.fates import EVENT_COLUMN_RETENTION, Fate, columns_of
from tests.fakes.evidence import House, house
from tests.servers import Database

OTHER = {
    "id": "DEFAULT",
    "created": "now()",
    "user_id": "8",
    "proxied_account": "'other'",
    "request_id": "gen_random_uuid()",
    "job_id": "gen_random_uuid()",
    "worker_id": "gen_random_uuid()",
    "ipaddr": "'9.9.9.9'",
    "origin_text": "'other'",
    "ip_subject_key": "repeat('b', 64)",
    "models": "'[\"other\"]'",
    "reason": "'filter_rejection'",
    "outcome": "'censored'",
    "submitted_prompt": "'other'",
    "moderation_prompt": "'other'",
    "effective_prompt": "'other'",
    "text_sha256": "repeat('b', 64)",
    "text_chars": "8",
    "text_truncated": "true",
}
"""Another value for each captured column; none of them breaks a CHECK of its own."""

STATES = {
    "none": "text_state = 'none', submitted_prompt = NULL, moderation_prompt = NULL, effective_prompt = NULL,"
    " text_sha256 = NULL, text_chars = NULL",
    "stored": "text_state = 'stored', submitted_prompt = NULL, moderation_prompt = NULL, effective_prompt = NULL",
}


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


@asynccontextmanager
async def as_moderation(database: Database) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(database.url_for("horde_moderation"))
    try:
        yield connection
    finally:
        await connection.close()


async def change(connection: "asyncpg.Connection[asyncpg.Record]", event: int, assignments: str) -> None:
    await connection.execute(f"UPDATE moderation.moderation_events SET {assignments} WHERE id = {event}")  # noqa: S608 - words of this test


def test_every_column_that_holds_something_captured_is_tried() -> None:
    said_elsewhere = {"text_state", *columns_of(Fate.FLAG)}
    assert set(OTHER) == set(EVENT_COLUMN_RETENTION) - said_elsewhere


async def test_moderation_may_not_write_to_what_is_kept(database: Database, home: House) -> None:
    event = await home.reported()
    async with as_moderation(database) as connection:
        for column in columns_of(Fate.KEEP):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await change(connection, event, f"{column} = {OTHER[column]}")


async def test_a_captured_value_is_removed_and_never_replaced(database: Database, home: House) -> None:
    async with as_moderation(database) as connection:
        for column in [name for name in OTHER if EVENT_COLUMN_RETENTION[name] is not Fate.KEEP]:
            # Either has an address, or a text in place of one.
            event = await home.event() if column.startswith("ip") else await home.reported()
            other = f"{column} = {OTHER[column]}"
            with pytest.raises(asyncpg.RestrictViolationError):
                await change(connection, event, other)
            await change(connection, event, f"{column} = NULL")
            if column not in {"text_sha256", "text_chars"}:
                with pytest.raises(asyncpg.RestrictViolationError):
                    await change(connection, event, other)


async def test_what_is_kept_or_was_not_captured_is_not_written_later(database: Database, home: House) -> None:
    event = await home.event(origin="")
    for column in ("reason", "models", "worker_id", "text_truncated"):
        with pytest.raises(asyncpg.RestrictViolationError):
            await change(home.owner, event, f"{column} = {OTHER[column]}")
    async with as_moderation(database) as connection:
        for column in ("request_id", "job_id", "proxied_account", "ipaddr", "effective_prompt"):
            with pytest.raises(asyncpg.RestrictViolationError):
                await change(connection, event, f"{column} = {OTHER[column]}")


async def test_a_text_never_comes_back(database: Database, home: House) -> None:
    stored, gone, bare = await home.event(), await home.event(), await home.event()
    again = "text_state = 'pending', submitted_prompt = 'words'"
    async with as_moderation(database) as connection:
        await change(connection, stored, STATES["stored"])
        for event in (gone, bare):
            await change(connection, event, STATES["none"])
        for event, state in ((stored, again), (gone, again), (gone, "text_state = 'stored'")):
            with pytest.raises(asyncpg.RestrictViolationError):
                await change(connection, event, state)
        await change(connection, stored, STATES["none"])


@pytest.mark.parametrize("flag", columns_of(Fate.FLAG))
async def test_a_flag_is_never_lowered(database: Database, home: House, flag: str) -> None:
    event = await home.event(400 if flag == "anonymized" else 40)
    await home.tick(text_days=7)
    async with as_moderation(database) as connection:
        with pytest.raises(asyncpg.RestrictViolationError):
            await change(connection, event, f"{flag} = false")


@pytest.mark.parametrize("statement", ["UPDATE {} SET note = 'other'", "DELETE FROM {}"])
async def test_a_note_is_never_edited_or_deleted_not_even_by_the_owner(
    database: Database, home: House, statement: str
) -> None:
    await home.note(await home.event())
    words = statement.format("moderation.moderation_event_notes")
    with pytest.raises(asyncpg.RestrictViolationError):
        await home.owner.execute(words)
    async with as_moderation(database) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(words)


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "TRUNCATE {} CASCADE"])
async def test_moderation_cannot_delete_an_event(database: Database, home: House, statement: str) -> None:
    event = await home.event()
    async with as_moderation(database) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement.format("moderation.moderation_events"))
    assert (await home.row(event))["submitted_prompt"] == "words"
