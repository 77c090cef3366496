"""Retention against what others commit meanwhile: two connections, and a barrier where it matters."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from services.moderation import retention_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.rules.fates import Step
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import House, house
from tests.servers import Database

NOTE = "INSERT INTO moderation.moderation_event_notes (event_id, author_id, note) VALUES ($1, 1, 'kept')"


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def stored(home: House, age_days: float) -> int:
    """An event whose text lies in the evidence store."""
    event = await home.event(age_days)
    await upload(home)
    assert event in home.evidence.objects
    return event


async def upload(home: House) -> None:
    await upload_evidence(home.store, home.evidence, EvidenceEvents(), FakeClock())


async def waiting_for_a_lock(home: House) -> None:
    """Returns when some statement of this database waits for a row."""
    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(30):
        while not await home.owner.fetchval(waits):  # noqa: ASYNC110 - the database tells nobody that somebody waits
            await asyncio.sleep(0.01)


async def test_an_event_with_an_uncommitted_note_is_passed_over(database: Database, home: House) -> None:
    event = await stored(home, 8)
    writer = await asyncpg.connect(database.url)
    try:
        async with writer.transaction():
            await writer.execute(NOTE, event)
            await home.tick(text_days=7)
            assert (await home.row(event))["text_state"] == "stored"
        await home.tick(text_days=7)
        assert event in home.evidence.objects
    finally:
        await writer.close()


async def test_a_note_that_comes_after_the_lock_waits_and_lands_on_the_processed_event(
    database: Database, home: House
) -> None:
    event = await stored(home, 8)
    writer = await asyncpg.connect(database.url)
    notes: list[asyncio.Task[str]] = []

    async def write_note() -> None:
        notes.append(asyncio.create_task(writer.execute(NOTE, event)))
        await waiting_for_a_lock(home)

    try:
        home.evidence.trouble.while_deleting = write_note
        await home.tick(text_days=7)
        await notes[0]
    finally:
        await writer.close()
    assert (await home.row(event))["text_redacted"]
    assert await home.owner.fetchval("SELECT moderation.hold_source_v1($1, 7)", event) == "note"


async def test_a_note_committed_between_the_snapshot_and_the_lock_is_seen_by_the_second_look(
    database: Database, home: House
) -> None:
    """The reason for a second look: what a statement locks may be newer than what it sees."""
    event = await stored(home, 8)
    pick, recheck = repo.STEPS[Step.TEXT].pick, repo.STEPS[Step.TEXT].recheck
    assert recheck is not None
    picker = await asyncpg.connect(database.url)
    try:
        # A statement whose snapshot is older than the note and whose lock is younger.
        async with picker.transaction(isolation="repeatable_read"):
            await picker.fetch("SELECT")
            await home.note(event)
            assert [row["id"] for row in await picker.fetch(pick.sql, 7, 10, True, [])] == [event]
        async with home.store.transaction() as tx:
            assert await tx.fetch(recheck, 7, [event]) == []
            assert await repo.change(tx, Step.TEXT, 7, [event]) == []
    finally:
        await picker.close()


async def test_an_account_flagged_during_the_delete_keeps_its_identity_and_the_row_tells_the_truth(home: House) -> None:
    await home.account(7)
    event = await stored(home, 400)

    async def flag() -> None:
        await home.account(7, flagged=True)

    home.evidence.trouble.while_deleting = flag
    await home.tick()
    row = await home.row(event)
    assert (row["text_state"], row["text_redacted"]) == ("none", True)
    assert (row["anonymized"], row["user_id"], row["ipaddr"]) == (False, 7, "2001:db8::/64")
    assert event not in home.evidence.objects


async def test_two_ticks_at_once_share_the_work_and_do_nothing_twice(home: House) -> None:
    events = [await stored(home, 8) for _ in range(4)]
    began = asyncio.Event()
    second: list[asyncio.Task[None]] = []

    async def another_tick() -> None:
        if not began.is_set():
            began.set()
            second.append(asyncio.create_task(home.tick(text_days=7)))
            await second[0]

    home.evidence.trouble.while_deleting = another_tick
    await home.tick(text_days=7)
    assert [(await home.row(event))["text_redacted"] for event in events] == [True] * 4
    assert home.evidence.deletes == [4]


async def test_a_tick_that_dies_after_its_delete_is_done_again_by_the_next(home: House) -> None:
    event = await stored(home, 8)

    async def die() -> None:
        raise RuntimeError("the process ends here")

    home.evidence.trouble.while_deleting = die
    with pytest.raises(RuntimeError):
        await home.tick(text_days=7)
    assert (await home.row(event))["text_state"] == "stored"
    home.evidence.trouble = type(home.evidence.trouble)()
    await home.tick(text_days=7)
    assert (await home.row(event))["text_redacted"]


async def test_an_upload_that_finds_its_row_cleared_deletes_what_it_put(home: House) -> None:
    event = await home.event(8)

    async def retention() -> None:
        home.evidence.trouble.after_put = _nothing
        await home.tick(text_days=7)
        # As if the put had reached the store only after retention's delete.
        home.evidence.objects[event] = b"late"

    home.evidence.trouble.after_put = retention
    await upload(home)
    assert (await home.row(event))["text_state"] == "none"
    assert home.evidence.objects == {}


async def test_an_upload_that_comes_second_leaves_the_object_of_the_first(home: House) -> None:
    """The lock went with its connection, and another replica uploaded the same text."""
    event = await home.event()

    async def other_replica() -> None:
        await home.owner.execute(
            "UPDATE moderation.moderation_events SET submitted_prompt = NULL, moderation_prompt = NULL,"
            " text_state = 'stored' WHERE id = $1",
            event,
        )

    home.evidence.trouble.after_put = other_replica
    await upload(home)
    assert event in home.evidence.objects
    assert (await home.row(event))["text_state"] == "stored"


async def test_only_one_replica_uploads_at_a_time(home: House) -> None:
    event = await home.event()
    async with repo.leading(home.store, "upload_evidence"):
        await upload(home)
    assert (await home.row(event))["text_state"] == "pending"
    await upload(home)
    assert (await home.row(event))["text_state"] == "stored"


async def test_a_standing_that_changes_while_an_address_step_runs_is_seen_by_the_change_itself(home: House) -> None:
    await home.account(7)
    event = await home.event(31)
    async with home.store.transaction() as tx:
        assert await repo.pick(tx, Step.ADDRESS, 30, 10) == [event]
        await home.account(7, suspicions=5)
        assert await repo.change(tx, Step.ADDRESS, 30, [event]) == []
    assert (await home.row(event))["ipaddr"] is not None


async def test_a_row_that_is_not_due_is_not_changed_even_when_it_was_picked(home: House) -> None:
    event = await home.event(31)
    async with home.store.transaction() as tx:
        assert await repo.pick(tx, Step.ADDRESS, 30, 10) == [event]
    await home.grow_older(timedelta(days=-2), event)
    async with home.store.transaction() as tx:
        assert await repo.change(tx, Step.ADDRESS, 30, [event]) == []


async def _nothing() -> None:
    return None
