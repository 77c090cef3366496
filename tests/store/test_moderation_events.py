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


ROW = {
    "reason": "'model_rejection'",
    "outcome": "'rejected'",
    "user_id": "7",
    "ipaddr": "'1.2.3.4'",
    "origin_text": "NULL",
    "ip_subject_key": "repeat('a', 64)",
    "submitted_prompt": "'words'",
    "moderation_prompt": "NULL",
    "effective_prompt": "NULL",
    "text_state": "'pending'",
    "text_sha256": "repeat('a', 64)",
    "text_chars": "5",
    "proxied_account": "NULL",
    "request_id": "NULL",
    "job_id": "NULL",
    "text_redacted": "false",
    "ipaddr_redacted": "false",
    "anonymized": "false",
}
"""A row that is accepted; each of the rows below differs from it and is not."""
NO_TEXT = {"submitted_prompt": "NULL", "text_state": "'none'", "text_sha256": "NULL", "text_chars": "NULL"}
NO_ADDRESS = {"ipaddr": "NULL"}
NOBODY = {
    **NO_TEXT,
    **NO_ADDRESS,
    **dict.fromkeys(("user_id", "ip_subject_key"), "NULL"),
    **dict.fromkeys(("text_redacted", "ipaddr_redacted", "anonymized"), "true"),
}
SOMEBODY = {"user_id": "7", "proxied_account": "'x'", "ip_subject_key": "repeat('a', 64)"}
SOMETHING = dict.fromkeys(("request_id", "job_id"), "gen_random_uuid()")
BAD_ROWS: list[tuple[str, dict[str, str]]] = [
    *[
        ("reason_outcome", {"reason": reason, "outcome": outcome})
        for reason, outcome in (
            ("'model_rejection'", "'censored'"),
            ("'filter_rejection'", "'censored'"),
            ("'worker_csam'", "'rejected'"),
            ("'spam'", "'rejected'"),
        )
    ],
    ("text_state", {"text_state": "'lost'", **dict.fromkeys(("submitted_prompt", "text_sha256"), "NULL")}),
    ("origin", {"origin_text": "'x'", "ip_subject_key": "NULL"}),
    ("origin", {"origin_text": "'x'", "ipaddr": "NULL"}),
    *[("key", {"ip_subject_key": key}) for key in ("repeat('A', 64)", "repeat('a', 63)", "''")],
    *[("sha", {"text_sha256": digest}) for digest in ("repeat('A', 64)", "repeat('a', 63)", "''")],
    *[("chars", {"text_chars": amount}) for amount in ("-1", "48001")],
    *[
        ("stage_len", {stage: "repeat('x', 16001)"})
        for stage in ("submitted_prompt", "moderation_prompt", "effective_prompt")
    ],
    *[
        ("inline", {**NO_TEXT, "text_state": state, stage: "'words'"})
        for state in ("'stored'", "'none'")
        for stage in ("submitted_prompt", "moderation_prompt", "effective_prompt")
    ],
    ("pending", {"submitted_prompt": "NULL"}),
    ("none", {**NO_TEXT, "text_sha256": "repeat('a', 64)"}),
    ("none", {**NO_TEXT, "text_chars": "0"}),
    ("text_gone", {"text_redacted": "true"}),
    ("text_gone", {"text_redacted": "true", "text_state": "'stored'", "submitted_prompt": "NULL"}),
    ("address_gone", {"ipaddr_redacted": "true"}),
    ("address_gone", {"ipaddr_redacted": "true", "ipaddr": "NULL", "ip_subject_key": "NULL", "origin_text": "'x'"}),
    *[("identity_gone", {**NOBODY, column: value}) for column, value in {**SOMEBODY, **SOMETHING}.items()],
    *[("identity_gone", {**NOBODY, flag: "false"}) for flag in ("text_redacted", "ipaddr_redacted")],
]


async def insert(owner: "asyncpg.Connection[asyncpg.Record]", changed: dict[str, str]) -> None:
    row = {**ROW, **changed}
    await owner.execute(
        f"INSERT INTO moderation.moderation_events ({', '.join(row)}) VALUES ({', '.join(row.values())})"  # noqa: S608 - words of this test
    )


async def test_the_database_refuses_each_row_that_breaks_a_promise(database: Database) -> None:
    owner = await asyncpg.connect(database.url)
    try:
        for accepted in ({}, NO_TEXT, NO_ADDRESS, NOBODY):
            await insert(owner, accepted)
        for check, changed in BAD_ROWS:
            with pytest.raises(REFUSED) as refused:
                await insert(owner, changed)
            named = (f"ck_moderation_events_{check}", f"moderation_events_{check}_check")
            assert refused.value.constraint_name in named, changed
    finally:
        await owner.close()


@pytest.mark.parametrize(
    "statement",
    [
        (
            "user_problem_jobs (user_id, worker_id, job_id, ipaddr, origin_text)"
            " VALUES (1, gen_random_uuid(), gen_random_uuid(), '1.2.3.4', 'x')"
        ),
        "moderation_event_marks (event_id, moderator_id, mark) VALUES ({event}, 1, 'liked')",
        "moderation_access_log (moderator_id, action, endpoint) VALUES (1, 'peeked', 'here')",
    ],
)
async def test_the_tables_beside_it_refuse_what_has_no_meaning(database: Database, statement: str) -> None:
    event_id, owner = await with_event(database)
    try:
        with pytest.raises(REFUSED):
            await owner.execute(f"INSERT INTO moderation.{statement.format(event=event_id)}")
    finally:
        await owner.close()


async def test_a_job_is_one_event_and_one_problem_job(database: Database) -> None:
    _, owner = await with_event(database)
    job = "'11111111-1111-4111-8111-111111111111'"
    count = (
        f"INSERT INTO moderation.user_problem_jobs (user_id, worker_id, job_id) VALUES (1, gen_random_uuid(), {job})"  # noqa: S608 - words of this test
    )
    try:
        await insert(owner, {"job_id": job})
        await owner.execute(count)
        with pytest.raises(asyncpg.exceptions.UniqueViolationError):
            await insert(owner, {"job_id": job})
        with pytest.raises(asyncpg.exceptions.UniqueViolationError):
            await owner.execute(count)
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
