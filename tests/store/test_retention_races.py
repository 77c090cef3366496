"""Retention against what others commit meanwhile: two connections, and a barrier where it matters."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from services.moderation import evidence_repo, review_repo
from services.moderation import retention_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops import upload_evidence as uploading
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.rules.fates import Step
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import House, Trouble, house
from tests.servers import Database

GATE = 42
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


@pytest.mark.parametrize("windows", [{"ceiling_days": 7, "ipaddr_days": None}, {"text_days": 7}, {"ipaddr_days": 7}])
async def test_an_event_with_an_uncommitted_note_is_passed_over(
    database: Database, home: House, windows: dict[str, Any]
) -> None:
    event, later = await stored(home, 9), await stored(home, 8)
    before = await home.row(event)
    writer = await asyncpg.connect(database.url)
    try:
        async with writer.transaction():
            await writer.execute(NOTE, event)
            async with asyncio.timeout(30):
                await home.tick(**windows)
            assert await home.row(event) == before
            done = await home.row(later)
            assert done["anonymized"] or done["text_redacted"] or done["ipaddr_redacted"]
        await home.tick(**windows)
    finally:
        await writer.close()
    assert await home.row(event) == before
    assert event in home.evidence.objects


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


@pytest.mark.parametrize("step", [Step.CEILING, Step.TEXT])
@pytest.mark.parametrize("hold", ["note", "account_status"])
async def test_what_is_held_between_the_snapshot_and_the_lock_loses_nothing(
    database: Database, home: House, monkeypatch: pytest.MonkeyPatch, step: Step, hold: str
) -> None:
    """The same by a whole tick, whose pick is stopped where its snapshot is taken and no row is locked yet."""
    await home.account(7)
    event = await stored(home, 400 if step is Step.CEILING else 100)
    before = await home.row(event)
    known = repo.STEPS[step]
    stopped = known.pick.sql.replace(
        "WHERE", f"WHERE (SELECT pg_advisory_lock_shared({GATE})::text) IS NOT NULL AND", 1
    )
    monkeypatch.setitem(repo.STEPS, step, replace(known, pick=replace(known.pick, sql=stopped)))
    keeper = await asyncpg.connect(database.url)
    try:
        await keeper.execute(f"SELECT pg_advisory_lock({GATE})")
        tick = asyncio.create_task(home.tick(ipaddr_days=None, text_days=7 if step is Step.TEXT else None))
        await waiting_for_a_lock(home)
        await (home.note(event) if hold == "note" else home.account(7, flagged=True))
        await keeper.execute(f"SELECT pg_advisory_unlock({GATE})")
        await tick
    finally:
        await keeper.close()
    assert await home.row(event) == before
    assert event in home.evidence.objects
    assert await home.owner.fetchval("SELECT moderation.hold_source_v1($1, 7)", event) == hold


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


async def test_a_text_in_its_row_outlives_an_upload_whose_object_a_tick_deleted_for_an_account_flagged_just_then(
    home: House,
) -> None:
    """Put, delete, flag, update: else the row would give up its text for an object that is gone."""
    await home.account(7)
    event = await home.event(8)

    async def flag() -> None:
        home.evidence.trouble = Trouble()
        await home.account(7, flagged=True)

    async def tick() -> None:
        home.evidence.trouble = Trouble(while_deleting=flag)
        await home.tick(text_days=7)

    home.evidence.trouble.after_put = tick
    await upload(home)
    assert ((await home.row(event))["submitted_prompt"], home.evidence.objects) == ("words", {})
    await upload(home)
    assert (await home.row(event))["text_state"] == "stored"
    assert set(home.evidence.objects) == {event}


async def test_a_mark_that_waits_for_the_ceiling_is_not_left_on_what_it_leaves(home: House) -> None:
    event = await home.event(400)
    marks: list[asyncio.Task[None]] = []

    async def set_mark() -> None:
        async with home.store.transaction() as tx:
            await review_repo.set_mark(tx, event, 1, "seen")

    async def mark() -> None:
        marks.append(asyncio.create_task(set_mark()))
        await waiting_for_a_lock(home)

    home.evidence.trouble.while_deleting = mark
    await home.tick()
    await marks[0]
    assert (await home.row(event))["anonymized"]
    assert await home.owner.fetchval("SELECT count(*) FROM moderation.moderation_event_marks") == 0


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


async def test_retention_deletes_what_an_upload_put_before_it_died(home: House) -> None:
    event = await home.event(8)

    async def die() -> None:
        raise RuntimeError("the process ends here")

    home.evidence.trouble.after_put = die
    with pytest.raises(RuntimeError):
        await upload(home)
    assert (await home.row(event))["text_state"] == "pending"
    await home.tick(text_days=7)
    assert (await home.row(event))["text_state"] == "none"
    assert home.evidence.objects == {}


async def test_a_put_that_lands_after_its_process_died_is_found_by_the_sweep(home: House) -> None:
    event, young = await home.event(8), await home.event()

    async def retention_then_die() -> None:
        home.evidence.trouble = Trouble()
        await home.tick(text_days=7)
        home.evidence.objects[event] = b"late"
        raise RuntimeError("the process ends here")

    home.evidence.trouble.after_put = retention_then_die
    with pytest.raises(RuntimeError):
        await upload(home)
    await upload(home)
    await home.tick(text_days=7)
    assert set(home.evidence.objects) == {event, young}
    await sweep_orphans(home.store, home.evidence, EvidenceEvents())
    assert set(home.evidence.objects) == {young}


async def test_two_uploads_at_once_move_each_text_once(home: House) -> None:
    """As when the lock went with its connection: the second reads, puts and updates inside the first."""
    events = [await home.event() for _ in range(3)]

    async def second() -> None:
        home.evidence.trouble = Trouble()
        await uploading._move(await evidence_repo.pending(home.store, 50, after=0), home.store, home.evidence, told)

    told = EvidenceEvents()
    home.evidence.trouble.after_put = second
    await upload(home)
    assert set(home.evidence.objects) == set(events)
    for event in events:
        row = await home.row(event)
        assert row["text_sha256"] == hashlib.sha256(home.evidence.objects[event]).hexdigest()
        assert row["text_state"] == "stored"


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
