"""What admission does without being called, and what it remembers."""

import asyncio
from datetime import timedelta

import pytest

from horde.cli.admin import check_ledger
from horde.rpc.client import NeighbourUnavailable
from horde.rpc.loops import run_once
from services.admission.__main__ import loops
from tests.fakes.admission_world import AdmissionWorld, admission_world, chat
from tests.servers import Database


async def test_an_account_is_promoted_when_it_earned_enough_and_is_old_enough(database: Database) -> None:
    async with admission_world(database, kudos_trust_threshold=10) as world:
        names = [("young", 2000, 1), ("poor", 1000, 30), ("suspicious", 2000, 30), ("earned", 2000, 30)]
        ids = {}
        for name, escrow, days in names:
            account = await world.account(name)
            ids[name] = account.id
            await world.sql.execute(
                "SELECT admission.settle_v2(gen_random_uuid(), 'uptime', NULL, NULL, NULL, $1, $2, 0, 0, 0)",
                account.id,
                escrow,
            )
            await world.sql.execute(
                "UPDATE admission.users SET created = now() - $2::interval WHERE id = $1",
                account.id,
                timedelta(days=days),
            )
        await world.sql.execute(
            "INSERT INTO admission.user_suspicions (user_id, suspicion_id) SELECT $1, 5 FROM generate_series(1, 5)",
            ids["suspicious"],
        )
        promotion = next(loop for loop in loops(world.deps) if loop.name == "promotion")
        await promotion.run()
        await promotion.run()
        trusted = await world.sql.fetch("SELECT user_id FROM admission.user_roles WHERE user_role = 1")
        assert [row["user_id"] for row in trusted] == [ids["earned"]]
        assert await world.sql.fetchval("SELECT kudos FROM admission.users WHERE id = $1", ids["earned"]) == 2000


async def test_without_a_threshold_nobody_is_promoted(world: AdmissionWorld) -> None:
    assert "promotion" not in {loop.name for loop in loops(world.deps)}


async def test_an_address_is_checked_each_time_and_a_busy_one_ten_times_a_second(world: AdmissionWorld) -> None:
    await world.worker()
    for calls, checked in ((1, 1), (1, 2), (10, 10)):
        for _ in range(calls):
            await world.admit(chat())
        assert len(world.moderation.checked) == checked
    world.clock.advance(timedelta(seconds=1))
    await world.admit(chat())
    assert len(world.moderation.checked) == 11


async def test_a_flagged_services_passkey_stops_counting(world: AdmissionWorld) -> None:
    service = await world.account("front", service=True, flagged=True)
    await world.sql.execute("UPDATE admission.users SET proxy_passkey = 'open' WHERE id = $1", service.id)
    await world.deps.passkeys.refresh()
    assert world.deps.passkeys.owner("open") is None
    assert world.deps.passkeys.owner("") is None


async def test_with_moderation_away_only_prompts_that_need_it_are_refused(world: AdmissionWorld) -> None:
    await world.worker()
    world.moderation.is_away = True
    assert (await world.admit(chat())).request_id
    flagged = await world.account("flagged", flagged=True, kudos=100)
    with pytest.raises(NeighbourUnavailable) as caught:
        await world.admit(chat(), key=flagged.api_key)
    assert caught.value.code == "UNAVAILABLE"
    assert await world.count("dispatch.waiting_prompts") == 1


async def test_the_hourly_loop_pays_every_month_that_is_due_once(world: AdmissionWorld) -> None:
    granted = await world.account("granted")
    moderator = await world.account("moderator", moderator=True)
    other = await world.account("other")
    await world.sql.execute("UPDATE admission.users SET monthly_kudos = 7 WHERE id = $1", granted.id)
    paying = [loop for _ in range(2) for loop in loops(world.deps) if loop.name == "monthly_kudos"]
    assert {loop.every for loop in paying} == {timedelta(hours=1)}
    balances = "SELECT kudos FROM admission.users WHERE id = ANY($1) ORDER BY id"
    ids = [granted.id, moderator.id, other.id]
    # the first month at once, the second when it is over, then the two an outage missed
    for days, months in ((0, 1), (28, 1), (4, 2), (62, 4)):
        world.clock.advance(timedelta(days=days))
        await asyncio.gather(*(loop.run() for loop in paying))
        found = [row["kudos"] for row in await world.sql.fetch(balances, ids)]
        assert found == [700 * months, 30_000_000 * months, 0]
    assert (await check_ledger(world.database.url)) == []


FAILS = """
CREATE FUNCTION admission.fail_for_a_test() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a test'; END $$;
CREATE TRIGGER fail_for_a_test BEFORE INSERT OR UPDATE ON admission.{table} FOR EACH ROW
WHEN (NEW.{column} = {account}) EXECUTE FUNCTION admission.fail_for_a_test();
"""


async def test_an_account_that_cannot_be_promoted_keeps_no_other_from_it_and_the_run_fails(database: Database) -> None:
    async with admission_world(database, kudos_trust_threshold=10) as world:
        ids = [(await world.account(name)).id for name in ("first", "second", "third")]
        await world.sql.execute(
            "UPDATE admission.users SET evaluating_kudos = 2000, created = now() - interval '30 days'"
        )
        await world.sql.execute(FAILS.format(table="user_roles", column="user_id", account=ids[0]))
        promotion = next(loop for loop in loops(world.deps) if loop.name == "promotion")
        assert not await run_once(promotion)
        trusted = await world.sql.fetch("SELECT user_id FROM admission.user_roles WHERE user_role = 1 ORDER BY 1")
        assert [row["user_id"] for row in trusted] == ids[1:]


async def test_an_account_that_cannot_be_paid_keeps_no_other_from_it_and_the_run_fails(world: AdmissionWorld) -> None:
    ids = [(await world.account(name)).id for name in ("first", "second", "third")]
    await world.sql.execute("UPDATE admission.users SET monthly_kudos = 7 WHERE id = ANY($1)", ids)
    await world.sql.execute(FAILS.format(table="users", column="id", account=ids[0]))
    paying = next(loop for loop in loops(world.deps) if loop.name == "monthly_kudos")
    assert not await run_once(paying)
    balances = await world.sql.fetch("SELECT kudos FROM admission.users WHERE id = ANY($1) ORDER BY id", ids)
    assert [row["kudos"] for row in balances] == [0, 700, 700]
