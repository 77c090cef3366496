"""The edges of each step of retention: the moment of its window, the size of its batch, and whom nothing may starve."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from horde.contract.retention import RetentionPolicy
from services.moderation import retention
from services.moderation import retention_repo as repo
from services.moderation.rules.fates import Step, assignments
from tests.fakes.evidence import House, MemoryEvidence, Trouble, house
from tests.servers import Database

DAYS = 7
EVENTS = (
    "INSERT INTO moderation.moderation_events"
    " (reason, outcome, user_id, ipaddr, text_state, submitted_prompt, text_sha256, text_chars, created)"
    " SELECT 'model_rejection', 'rejected', {account}, '1.2.3.4', 'pending', 'words', repeat('a', 64), 5, {age}"
)
JOBS = (
    "INSERT INTO moderation.user_problem_jobs (user_id, worker_id, job_id, ipaddr, created)"
    " SELECT {account}, gen_random_uuid(), gen_random_uuid(), '1.2.3.4', {age}"
)
SUSPICIONS = (
    "INSERT INTO moderation.worker_suspicion_events (worker_id, worker_name, user_id, suspicion_id, detail, created)"
    " SELECT gen_random_uuid(), 'w', {account}, 5, 'd', {age}"
)
ACCESSES = (
    "INSERT INTO moderation.moderation_access_log (moderator_id, action, endpoint, created)"
    " SELECT 1, 'noted', 'here', {age}"
)
EVENT_STEPS = (Step.CEILING, Step.TEXT, Step.ADDRESS)
ROWS = {
    Step.CEILING: EVENTS,
    Step.TEXT: EVENTS,
    Step.ADDRESS: EVENTS,
    Step.PROBLEM_JOBS: JOBS,
    Step.PROBLEM_JOB_ADDRESSES: JOBS,
    Step.SUSPICIONS: SUSPICIONS,
    Step.ACCESS_LOG: ACCESSES,
}
ONLY: dict[Step, dict[str, Any]] = {
    Step.CEILING: {"ceiling_days": DAYS, "ipaddr_days": None},
    Step.TEXT: {"text_days": DAYS, "ipaddr_days": None},
    Step.ADDRESS: {"ipaddr_days": DAYS},
    Step.PROBLEM_JOBS: {"ceiling_days": DAYS, "ipaddr_days": None},
    Step.PROBLEM_JOB_ADDRESSES: {"ipaddr_days": DAYS},
    Step.SUSPICIONS: {"worker_suspicion_days": DAYS},
    Step.ACCESS_LOG: {"access_log_days": DAYS},
}
"""Windows that let one step alone find these rows."""


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def left_by(home: House, step: Step) -> list[int]:
    """The rows that a step has not been at, by id."""
    unfinished = {
        Step.CEILING: "moderation_events WHERE NOT anonymized",
        Step.TEXT: "moderation_events WHERE NOT text_redacted",
        Step.ADDRESS: "moderation_events WHERE NOT ipaddr_redacted",
        Step.PROBLEM_JOBS: "user_problem_jobs",
        Step.PROBLEM_JOB_ADDRESSES: "user_problem_jobs WHERE ipaddr IS NOT NULL",
        Step.SUSPICIONS: "worker_suspicion_events",
        Step.ACCESS_LOG: "moderation_access_log",
    }
    rows = await home.owner.fetch(f"SELECT id FROM moderation.{unfinished[step]} ORDER BY id")  # noqa: S608 - words of this test
    return [row["id"] for row in rows]


async def stored(home: House, amount: int, age_days: int) -> set[int]:
    """Events whose texts lie in the store."""
    age = f"now() - interval '{age_days} days' - make_interval(secs => n) FROM generate_series(1, {amount}) n"
    await home.owner.execute(EVENTS.format(age=age, account=7))
    rows = await home.owner.fetch(
        "UPDATE moderation.moderation_events SET text_state = 'stored', submitted_prompt = NULL RETURNING id"
    )
    ids = {row["id"] for row in rows}
    home.evidence.objects |= dict.fromkeys(ids, b"{}")
    return ids


@pytest.mark.parametrize("step", Step)
async def test_a_row_is_due_at_the_very_moment_of_its_window_and_not_before(home: House, step: Step) -> None:
    """In one transaction, in which the time of the database stands still."""
    statements = repo.STEPS[step]
    async with home.owner.transaction():
        for early in ("0", "1"):
            age = f"now() - interval '{DAYS * 24} hours' + interval '{early} microseconds'"
            await home.owner.execute(ROWS[step].format(age=age, account=7))
        exact, _ = both = await left_by(home, step)
        more: tuple[object, ...] = (True, []) if statements.recheck is not None else ()
        assert [row["id"] for row in await home.owner.fetch(statements.pick.sql, DAYS, 10, *more)] == [exact]
        if statements.recheck is not None:
            assert [row["id"] for row in await home.owner.fetch(statements.recheck.sql, DAYS, both)] == [exact]
        assert [row["id"] for row in await home.owner.fetch(statements.change.sql, DAYS, both)] == [exact]


@pytest.mark.parametrize("step", Step)
async def test_every_statement_of_a_step_says_its_whole_condition(home: House, step: Step) -> None:
    """The pick, the second look and the change, each by itself: of free, noted, restricted and finished rows."""
    statements = repo.STEPS[step]
    await home.account(7)
    await home.account(8, flagged=True)
    due = "now() - interval '8 days'"
    for account in (7, 7, 8, 7):
        await home.owner.execute(ROWS[step].format(age=due, account=account))
    free, noted, restricted, finished = rows = await left_by(home, step)
    wanted = {free}
    if step in EVENT_STEPS:
        await home.note(noted)
        await home.owner.execute(f"UPDATE moderation.moderation_events SET {assignments(step)} WHERE id = $1", finished)  # noqa: S608 - words of the fates
    else:
        wanted |= {noted, finished}
    if step is Step.PROBLEM_JOB_ADDRESSES:
        await home.owner.execute("UPDATE moderation.user_problem_jobs SET ipaddr = NULL WHERE id = $1", finished)
        wanted -= {finished}
    if step is Step.ACCESS_LOG:
        wanted |= {restricted}
    async with home.owner.transaction():
        more: tuple[object, ...] = (True, []) if statements.recheck is not None else ()
        assert {row["id"] for row in await home.owner.fetch(statements.pick.sql, DAYS, 10, *more)} == wanted
        if statements.recheck is not None:
            assert {row["id"] for row in await home.owner.fetch(statements.recheck.sql, DAYS, rows)} == wanted
        assert {row["id"] for row in await home.owner.fetch(statements.change.sql, DAYS, rows)} == wanted


@pytest.mark.parametrize("step", Step)
async def test_a_pass_changes_a_thousand_rows_of_each_step_the_oldest_first(
    home: House, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_PASSES", 1)
    # The higher the number, the older the row.
    age = "now() - interval '8 days' - make_interval(secs => n) FROM generate_series(1, 1002) n ORDER BY n"
    await home.owner.execute(ROWS[step].format(age=age, account=7))
    rows = await left_by(home, step)
    await home.tick(**ONLY[step])
    assert await left_by(home, step) == rows[:2]
    await home.tick(**ONLY[step])
    assert await left_by(home, step) == []


@pytest.mark.parametrize("amount", [1_000, 5_000])
@pytest.mark.parametrize("step", [Step.CEILING, Step.TEXT])
@pytest.mark.parametrize("trouble", ["away", "keeps them", "unset"])
async def test_undeletable_texts_at_the_head_keep_nobody_waiting(
    home: House, trouble: str, step: Step, amount: int
) -> None:
    waiting = await stored(home, amount, age_days=9)
    inline = await home.event(8)
    empty = await home.event(8)
    await home.owner.execute(
        "UPDATE moderation.moderation_events SET text_state = 'none', submitted_prompt = NULL,"
        " moderation_prompt = NULL, text_sha256 = NULL, text_chars = NULL WHERE id = $1",
        empty,
    )
    home.evidence.trouble = Trouble(away=trouble == "away", stubborn=waiting)
    if trouble == "unset":
        home.evidence = MemoryEvidence(configured=False)
    await home.tick(**ONLY[step])
    assert set(await left_by(home, step)) == waiting
    assert (await home.row(inline))["submitted_prompt"] is None


async def test_texts_without_an_object_go_behind_more_undeletable_ones_than_a_tick_can_look_at(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token without the right to delete is answered key by key, and the store seems to be well."""
    monkeypatch.setattr(retention, "BATCH", 3)
    home.evidence.trouble.stubborn = await stored(home, 3 * retention.MAX_PASSES + 1, age_days=9)
    inline = [await home.event(8) for _ in range(7)]
    await home.tick(text_days=DAYS)
    assert [(await home.row(event))["text_redacted"] for event in inline] == [True] * 7


async def test_a_batch_is_filled_up_beside_objects_that_the_store_keeps_and_no_further(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 4)
    monkeypatch.setattr(retention, "MAX_PASSES", 1)
    events = sorted(await stored(home, 4, age_days=9))
    inline = [await home.event(8) for _ in range(4)]
    home.evidence.trouble.stubborn = set(events[1:])
    await home.tick(text_days=DAYS)
    gone = [event for event in (*events, *inline) if (await home.row(event))["text_redacted"]]
    assert gone == [events[0], *inline[:3]]


async def test_windows_of_different_policies_are_each_steps_own(home: House) -> None:
    policy = RetentionPolicy(text_days=1, ipaddr_days=2, ceiling_days=3, worker_suspicion_days=4, access_log_days=5)
    wanted: dict[Step, Any] = {
        Step.CEILING: 3,
        Step.TEXT: 1,
        Step.ADDRESS: 2,
        Step.PROBLEM_JOBS: 3,
        Step.PROBLEM_JOB_ADDRESSES: 2,
        Step.SUSPICIONS: 4,
        Step.ACCESS_LOG: 5,
    }
    assert {step: repo.window_of(step, policy) for step in Step} == wanted
    late = await repo.overdue(home.store, policy)
    assert set(late) == set(Step)
    assert set(late.values()) == {timedelta()}
