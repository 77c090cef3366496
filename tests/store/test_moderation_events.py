"""The table of events refuses by itself what retention and review rely on."""

from typing import Any

import asyncpg
import pytest

from services.moderation import repo
from services.moderation.rules.evidence import Evidence, Path, capture
from tests.servers import Database

REFUSED = asyncpg.exceptions.CheckViolationError


def evidence(**changed: Any) -> Evidence:
    known: dict[str, Any] = {
        "account_id": 1,
        "origin": "2001:db8::1",
        "models": ("m",),
        "prompt": "p",
        "reason": Path.MODEL,
        "secret": "a secret",
    }
    return capture(**{**known, **changed})


async def with_event(database: Database) -> "tuple[int, asyncpg.Connection[asyncpg.Record]]":
    async with database.store("horde_moderation") as store:
        event_id, _ = await repo.add_event(store, evidence())
    return event_id, await asyncpg.connect(database.url)


async def test_the_longest_evidence_fits(database: Database) -> None:
    widest = evidence(prompt="\U0001f600" * 20_000, models=("\U0001f600" * 300,) * 200, origin="\x00x" * 300)
    async with database.store("horde_moderation") as store:
        assert (await repo.add_event(store, widest))[1]


@pytest.mark.parametrize(
    "change",
    [
        "text_state = 'none'",
        "text_state = 'stored'",
        "text_redacted = true",
        "ipaddr_redacted = true",
        "origin_text = 'x'",
        "outcome = 'censored'",
        "text_sha256 = 'no digest'",
        "text_chars = 48001",
        "submitted_prompt = NULL, moderation_prompt = NULL",
        "anonymized = true, text_redacted = true, ipaddr_redacted = true",
    ],
)
async def test_a_row_that_would_break_a_promise_is_refused(database: Database, change: str) -> None:
    event_id, owner = await with_event(database)
    try:
        with pytest.raises(REFUSED):
            await owner.execute(f"UPDATE moderation.moderation_events SET {change} WHERE id = {event_id}")  # noqa: S608 - words of this test
    finally:
        await owner.close()


async def test_an_event_with_a_note_cannot_be_deleted(database: Database) -> None:
    event_id, owner = await with_event(database)
    try:
        note = "INSERT INTO moderation.moderation_event_notes (event_id, author_id, note) VALUES ($1, 1, $2)"
        with pytest.raises(REFUSED):
            await owner.execute(note, event_id, " \n")
        await owner.execute(note, event_id, "seen")
        with pytest.raises(asyncpg.exceptions.RestrictViolationError):
            await owner.execute("DELETE FROM moderation.moderation_events WHERE id = $1", event_id)
    finally:
        await owner.close()


async def test_filters_are_read_in_order_and_only_those_in_use(database: Database) -> None:
    owner = await asyncpg.connect(database.url)
    add = "INSERT INTO moderation.filters (regex, filter_type, user_id) VALUES ($1, $2, 1)"
    await owner.executemany(add, [("a", 20), ("b", 10), ("c", 12), ("d", 11)])
    await owner.close()
    async with database.store("horde_moderation") as store:
        assert [(row.pattern, row.kind) for row in await repo.filters(store)] == [("a", 20), ("b", 10), ("d", 11)]
        assert await repo.has_filters(store)
        assert (await repo.modes(store)).raid is False


async def test_another_service_cannot_read_events(database: Database) -> None:
    connection = await asyncpg.connect(database.url_for("horde_admission"))
    try:
        with pytest.raises(asyncpg.exceptions.InsufficientPrivilegeError):
            await connection.execute("SELECT FROM moderation.moderation_events")
    finally:
        await connection.close()
