"""What retention tells of itself, what proves it, and what of the schema it relies on."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from horde.contract.retention import RetentionPolicy
from services.moderation import retention_repo
from services.moderation.rules.fates import EVENT_COLUMN_RETENTION, Step
from tests.fakes.evidence import House, house
from tests.servers import Database

DAY = timedelta(days=1)


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
    await home.event(400)
    await home.note(await home.event(400))
    await home.event(8)
    await home.problem_job(400)
    await home.suspicion(8)
    found = await retention_repo.violations(home.store, policy, hour)
    wanted = {"text": 2, "address": 1, "identity": 1, "problem_job": 1, "problem_job_address": 1}
    assert found == {**wanted, "worker_suspicion": 1, "access_log": 0}
    await home.tick(text_days=7, worker_suspicion_days=7)
    assert set((await retention_repo.violations(home.store, policy, hour)).values()) == {0}


# the schema --------------------------------------------------------------------------------------------------------


async def test_the_table_is_the_one_that_the_fates_are_for(home: House) -> None:
    columns, checks = await retention_repo.shape(home.store)
    assert set(columns) == set(EVENT_COLUMN_RETENTION)
    assert len(checks) == 3


async def test_retention_can_neither_delete_events_nor_touch_notes(database: Database, home: House) -> None:
    event = await home.event()
    await home.note(event)
    connection = await asyncpg.connect(database.url_for("horde_moderation"))
    try:
        for statement in (
            "DELETE FROM moderation.moderation_events",
            "DELETE FROM moderation.moderation_event_notes",
            "UPDATE moderation.moderation_event_notes SET note = 'other'",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()
    with pytest.raises(asyncpg.RestrictViolationError):
        await home.owner.execute("UPDATE moderation.moderation_event_notes SET note = 'other'")


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
