"""What admission does without being called, and what it remembers."""

from datetime import timedelta

import pytest

from horde.rpc.client import NeighbourUnavailable
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
                "SELECT admission.settle_v1(gen_random_uuid(), 'uptime', NULL, NULL, NULL, $1, $2, 0, 0, 0)",
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
    assert {loop.name for loop in loops(world.deps)} == {"passkeys", "policy", "model_reference"}


async def test_an_address_is_checked_once_a_second(world: AdmissionWorld) -> None:
    await world.worker()
    await world.admit(chat())
    await world.admit(chat())
    assert len(world.moderation.checked) == 1
    world.clock.advance(timedelta(seconds=1))
    await world.admit(chat())
    assert len(world.moderation.checked) == 2


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
