"""What admission tells moderation of a prompt, and what a refusal of one costs its account. base-domain 8.3."""

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.admission_world import AdmissionWorld, chat, text

CORRUPT_PROMPT = 8


async def refused(world: AdmissionWorld, reason: reasons.Reason, key: str) -> None:
    """One prompt that moderation refuses."""
    world.deps.policy.has_filters = True
    world.moderation.refuses = Refusal(reason, "not allowed")
    with pytest.raises(Refusal) as no:
        await world.admit(chat(), key=key)
    assert no.value.reason is reason


async def suspicions(world: AdmissionWorld, account: int) -> list[int]:
    """What an account is suspected of."""
    rows = await world.sql.fetch("SELECT suspicion_id FROM admission.user_suspicions WHERE user_id = $1", account)
    return [row["suspicion_id"] for row in rows]


async def test_who_sends_what_a_filter_refuses_is_suspected_of_it_once(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account()
    for _ in range(2):
        await refused(world, reasons.CORRUPT_PROMPT, client.api_key)
    assert await suspicions(world, client.id) == [CORRUPT_PROMPT]
    with pytest.raises(Refusal):
        await world.admit_text(text(), key=client.api_key)
    assert await suspicions(world, client.id) == [CORRUPT_PROMPT]


async def test_an_account_that_cannot_be_suspected_is_refused_all_the_same(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account()
    await world.sql.execute("ALTER TABLE admission.user_suspicions ADD CONSTRAINT broken CHECK (false)")
    await refused(world, reasons.CORRUPT_PROMPT, client.api_key)


async def test_neither_moderators_nor_the_anonymous_account_nor_a_models_refusal_are_suspected(
    world: AdmissionWorld,
) -> None:
    await world.worker()
    client, moderator = await world.account(), await world.account("moderator", moderator=True)
    await refused(world, reasons.CORRUPT_PROMPT, moderator.api_key)
    await refused(world, reasons.CORRUPT_PROMPT, "0000000000")
    await refused(world, reasons.PROMPT_REWRITTEN_AWAY, client.api_key)
    assert await world.count("admission.user_suspicions") == 0


async def test_moderation_learns_who_speaks_for_an_address(world: AdmissionWorld) -> None:
    await world.worker()
    service = await world.account("front", service=True)
    await world.sql.execute("UPDATE admission.users SET proxy_passkey = 'open' WHERE id = $1", service.id)
    await world.deps.passkeys.refresh()
    world.deps.policy.has_filters = True
    forwarded = {"proxied_for": "198.51.100.7", "proxy_passkey": "open"}
    await world.admit_text(text(proxied_account="ann"), key=service.api_key, **forwarded)
    await world.admit(chat())
    through, direct = world.moderation.screened
    assert (through.address, through.proxied) == ("198.51.100.7", True)
    assert (through.proxy_address, through.proxy_owner) == ("203.0.113.9", service.username)
    assert through.proxied_account == "ann"
    assert (direct.address, direct.proxied, direct.proxy_address, direct.proxy_owner) == ("203.0.113.9", False, "", "")


async def test_moderation_learns_that_an_account_is_a_schools(world: AdmissionWorld) -> None:
    await world.worker()
    school = await world.account("school")
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, 8)", school.id)
    world.deps.policy.has_filters = True
    await world.admit(chat(), key=school.api_key)
    assert world.moderation.screened[0].account_education
