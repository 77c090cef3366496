"""What retention tells of itself, what proves it, and what of the schema it relies on."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract.retention import RetentionPolicy
from services.moderation import retention, retention_repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops.retain import Retain
from services.moderation.rules.fates import EVENT_COLUMN_RETENTION, Step
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import House, house
from tests.servers import Database

ANONYMOUS = 0
STANDINGS: list[dict[str, Any]] = [
    {"flagged": True},
    {"suspicions": 5},
    {"suspicions": 5, "trusted": True},
    {"suspicions": 4},
]
DAY = timedelta(days=1)
STORED = (
    "UPDATE moderation.moderation_events SET text_state = 'stored', submitted_prompt = NULL, moderation_prompt = NULL"
)


def counted() -> list[float]:
    """Passes, rows without their address, ticks that were not enough."""
    of_address = {"step": "ipaddr_redacted"}
    return [
        REGISTRY.get_sample_value(f"horde_moderation_retention_{name}_total", labels) or 0.0
        for name, labels in (("cycles", {}), ("rows", of_address), ("saturation", {}))
    ]


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def test_overdue_and_held_are_what_the_next_pass_would_find(home: House) -> None:
    policy = RetentionPolicy(text_days=7)
    await home.event(9)
    await home.note(await home.event(40))
    await home.account(8, flagged=True)
    await home.event(50, account_id=8)
    late = await retention_repo.overdue(home.store, policy)
    assert late[Step.TEXT] // DAY == 2
    assert late[Step.ADDRESS] == late[Step.CEILING] == timedelta()
    assert await retention_repo.held(home.store, policy) == {"note": 1, "account_status": 1}
    await home.tick(text_days=7)
    assert set((await retention_repo.overdue(home.store, policy)).values()) == {timedelta()}


async def test_the_proof_finds_what_outlived_its_window_and_not_what_is_held(home: House) -> None:
    policy = RetentionPolicy(text_days=7, worker_suspicion_days=7)
    hour = timedelta(hours=1)
    marked = await home.event(400)
    mark = "INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark) VALUES ($1, 1, 'seen')"
    for event in (marked, await home.event(8)):
        await home.owner.execute(mark, event)
    await home.note(await home.event(400))
    await home.problem_job(400)
    await home.suspicion(8)
    await home.access(366)
    found = await retention_repo.violations(home.store, policy, hour)
    wanted = {"text": 2, "address": 1, "identity": 1, "mark": 1, "problem_job": 1, "problem_job_address": 1}
    assert found == {**wanted, "worker_suspicion": 1, "access_log": 1}
    await home.tick(text_days=7, worker_suspicion_days=7)
    assert set((await retention_repo.violations(home.store, policy, hour)).values()) == {0}


async def test_neither_the_proof_nor_how_late_it_is_counts_what_a_standing_holds_and_nothing_else_is_let_off(
    home: House,
) -> None:
    policy = RetentionPolicy(text_days=7, worker_suspicion_days=7)
    held, free = (1, 2), (ANONYMOUS, 3, 4)
    await home.anonymous()
    for account, standing in zip((*held, *free[1:]), STANDINGS, strict=True):
        await home.account(account, **standing)
    for kinds, accounts in ((0, held), (len(free), free)):
        for account in accounts:
            await home.event(400, account_id=account)
            await home.problem_job(400, account)
            await home.suspicion(8, account)
        found = await retention_repo.violations(home.store, policy, timedelta())
        assert {found[kind] for kind in ("text", "address", "identity", "problem_job", "worker_suspicion")} == {kinds}
        late = await retention_repo.overdue(home.store, policy)
        assert {step: bool(by) for step, by in late.items() if step is not Step.ACCESS_LOG} == {
            step: kinds > 0 for step in Step if step is not Step.ACCESS_LOG
        }


async def test_the_proof_does_not_believe_the_flags(home: House) -> None:
    """The CHECKs make such rows impossible; the proof is there for the day on which they are not."""
    await home.owner.execute(
        "ALTER TABLE moderation.moderation_events DROP CONSTRAINT ck_moderation_events_text_gone,"
        " DROP CONSTRAINT ck_moderation_events_address_gone, DROP CONSTRAINT ck_moderation_events_identity_gone"
    )
    await home.event(400, account_id=8)
    flags = "text_redacted = true, ipaddr_redacted = true, anonymized = true"
    await home.owner.execute(f"UPDATE moderation.moderation_events SET {flags}")  # noqa: S608 - words of this test
    await home.tick()
    found = await retention_repo.violations(home.store, RetentionPolicy(), timedelta())
    assert {kind: amount for kind, amount in found.items() if amount} == {"text": 1, "address": 1, "identity": 1}


async def test_passes_rows_and_a_tick_that_was_not_enough_are_counted(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    for _ in range(20 * 3 + 2):
        await home.event(31)
    told = []
    for _ in range(2):
        before = counted()
        await home.tick()
        told.append([now - then for now, then in zip(counted(), before, strict=True)])
    assert told == [[20, 60, 1], [1, 2, 0]]


async def test_waiting_for_an_unset_store_is_told_once_an_hour_with_the_count(
    database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    async with house(database, configured=False) as home:
        for _ in range(3):
            await home.event(8)
        await home.owner.execute(STORED)
        clock = FakeClock()
        retain = Retain(home.store, home.evidence, RetentionPolicy(text_days=7), EvidenceEvents(), clock)
        told = []
        for minutes in (0, 1, 58, 1, 59, 1):
            clock.advance(timedelta(minutes=minutes))
            await retain.tick()
            told.append("stored texts wait for the evidence store" in (said := "".join(capfd.readouterr())))
            assert not told[-1] or re.search(r"events\W+3\b", said)
        assert told == [True, False, False, True, False, True]


async def test_a_store_that_is_away_is_told_at_every_tick(home: House, capfd: pytest.CaptureFixture[str]) -> None:
    await home.event(8)
    await home.owner.execute(STORED)
    home.evidence.trouble.away = True
    retain = Retain(home.store, home.evidence, RetentionPolicy(text_days=7), EvidenceEvents(), FakeClock())
    for _ in range(2):
        await retain.tick()
        said = "".join(capfd.readouterr())
        assert "stored texts wait for the evidence store" in said
        assert "evidence not deleted" in said
        assert "words" not in said


# the schema --------------------------------------------------------------------------------------------------------


async def test_the_table_is_the_one_that_the_fates_are_for(home: House) -> None:
    columns, checks = await retention_repo.shape(home.store)
    assert set(columns) == set(EVENT_COLUMN_RETENTION)
    assert len(checks) == 3


async def test_one_replica_leads_at_a_time_and_another_follows_when_it_is_gone(database: Database) -> None:
    async with database.store("horde_moderation") as one, database.store("horde_moderation") as two:
        async with retention_repo.leading(one, "retain") as first:
            async with retention_repo.leading(two, "retain") as second:
                assert (first, second) == (True, False)
            async with retention_repo.leading(two, "upload_evidence") as other:
                assert other
        async with retention_repo.leading(two, "retain") as third:
            assert third


async def test_each_step_reads_only_what_it_has_not_finished(home: House) -> None:
    await home.owner.execute(
        "INSERT INTO moderation.moderation_events"
        " (reason, outcome, text_state, text_redacted, ipaddr_redacted, anonymized, created)"
        " SELECT 'model_rejection', 'rejected', 'none', true, true, true, now() - interval '400 days'"
        " FROM generate_series(1, 5000)"
    )
    await home.event(400)
    await home.owner.execute("ANALYZE moderation.moderation_events")
    indexes = {Step.CEILING: "ceiling", Step.TEXT: "text", Step.ADDRESS: "address"}
    for step, name in indexes.items():
        sql = retention_repo.STEPS[step].pick.sql.replace("$1", "7").replace("$2", "1000")
        sql = sql.replace("$3", "true").replace("$4", "'{}'")
        plan = "\n".join(row[0] for row in await home.owner.fetch(f"EXPLAIN {sql}"))
        assert f"ix_moderation_events_{name}_due" in plan, plan
        assert "hashed SubPlan" in plan, plan
