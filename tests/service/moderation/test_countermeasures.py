"""What rejections cost an address, and what moderators are told of it: never a prompt, never an address."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract.ip_subject import ip_subject_key
from horde.contract.refusal import Refusal
from tests.fakes.discord import Webhook, webhook
from tests.service.moderation.conftest import SECRET

ADDRESS = "9.8.7.6"
PSEUDONYM = (ip_subject_key(ADDRESS, SECRET) or "")[:12]


@pytest.fixture
async def discord() -> AsyncIterator[Webhook]:
    """A webhook that takes every notice."""
    async with webhook() as made:
        yield made


@pytest.fixture
async def moderation(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str, discord: Webhook
) -> AsyncIterator[Any]:
    """A moderation service that forgives two model rejections an hour and tells Discord."""
    async with serving_moderation(
        redis_url,
        model_rejection_timeout_threshold=2,
        discord_problem_user_webhook=discord.url,
        moderation_frontpage_url="https://front.example/",
        rate_limit_whitelist=("7.7.7.7", "2001:db8::7"),
    ) as service:
        await service.add_filter(10, "badword")
        await service.add_filter(20, "worse")
        yield service


async def reject(moderation: Any, times: int = 1, text: str = "badword", **changed: Any) -> None:
    for _ in range(times):
        with pytest.raises(Refusal):
            await moderation.screen(text, **{"account_flagged": True, "address": ADDRESS, **changed})
    await moderation.deps.settle()


def counted() -> float:
    return REGISTRY.get_sample_value("horde_moderation_countermeasures_total", {"action": "timeout"}) or 0.0


async def test_the_first_timeout_of_an_hour_is_told_once_with_the_latest_event(
    moderation: Any, discord: Webhook
) -> None:
    before = counted()
    await reject(moderation, times=2)
    assert (await moderation.seconds_left(ADDRESS), discord.told) == (0, [])
    await reject(moderation, times=2)
    (told,) = discord.told
    latest = (await moderation.events())[2]["id"]
    assert told["allowed_mentions"] == {"parse": []}
    assert told["content"].splitlines() == [
        f"IP subject {PSEUDONYM} is timed out for 3 minutes after model rejections",
        "3 model rejections in this hour",
        f"event {latest}",
        f"https://front.example/admin/review?tab=prompts&event_id={latest}",
    ]
    assert counted() == before + 1
    assert 500 < await moderation.seconds_left(ADDRESS) <= 540


async def test_every_subject_is_counted_for_itself(moderation: Any, discord: Webhook) -> None:
    await reject(moderation, times=2, address="2001:db8::1")
    await reject(moderation, times=2)
    assert discord.told == []
    await reject(moderation, address="2001:db8::2")
    assert len(discord.told) == 1
    assert await moderation.seconds_left("2001:db8::3") > 0
    assert await moderation.seconds_left(ADDRESS) == 0


async def test_filter_rejections_time_out_at_once_and_are_neither_counted_nor_told(
    moderation: Any, discord: Webhook
) -> None:
    before = counted()
    await reject(moderation, times=3, text="badword worse")
    assert await moderation.seconds_left(ADDRESS) > 500
    assert (discord.told, counted()) == ([], before)
    assert [one async for one in moderation.live.redis.scan_iter("*model_rejection*")] == []


async def test_moderators_are_neither_counted_nor_put_out_in_a_raid_either(moderation: Any, discord: Webhook) -> None:
    await moderation.owner.execute("UPDATE moderation.settings SET raid = true")
    await reject(moderation, times=4, account_moderator=True, proxied=True, proxy_address="5.5.5.5")
    assert len(await moderation.events()) == 4
    assert (await moderation.seconds_left(ADDRESS), discord.told) == (0, [])
    assert [one async for one in moderation.live.redis.scan_iter("*")] == []


async def test_lost_evidence_is_told_without_a_link(moderation: Any, discord: Webhook) -> None:
    await moderation.owner.execute("ALTER TABLE moderation.moderation_events ADD CONSTRAINT full_disk CHECK (false)")
    await reject(moderation, times=3)
    assert discord.told[0]["content"].splitlines()[-1] == "the evidence could not be written"


@pytest.mark.parametrize("service", ["7.7.7.7", "::ffff:7.7.7.7", "2001:db8::99"])
async def test_the_address_of_a_service_is_out_for_five_minutes_at_most(moderation: Any, service: str) -> None:
    await reject(moderation, times=4, text="badword worse", address=service)
    assert 290 < await moderation.seconds_left(service) <= 300


async def test_many_rejections_through_one_proxy_are_told_with_the_owner_of_its_passkey(
    moderation: Any, discord: Webhook
) -> None:
    through: dict[str, Any] = {
        "text": "badword worse",
        "proxied": True,
        "proxy_address": "5.5.5.5",
        "proxy_owner": "@bridge*#4",
    }
    for user in range(11):
        await reject(moderation, address=f"6.6.6.{user}", **through)
    assert discord.told == []
    await reject(moderation, times=3, address="6.6.6.12", **through)
    (told,) = discord.told
    assert told["content"] == "12 rejected prompts in this hour came through the proxy of \\@bridge\\*\\#4"
    assert await moderation.seconds_left("5.5.5.5") == 0
    assert await moderation.seconds_left("6.6.6.12") > 0


async def test_a_webhook_that_fails_changes_no_refusal(
    moderation: Any, discord: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    discord.status = 500
    await reject(moderation, times=3)
    assert len(discord.told) == 1
    assert await moderation.seconds_left(ADDRESS) > 0
    assert "webhooks" not in caplog.text


async def test_an_education_account_gets_refused_prompts_rewritten(moderation: Any) -> None:
    passed = await moderation.screen("a worse badword here", "hello", account_education=True)
    assert (list(passed.texts), passed.rewritten) == (["a worse  here", "hello"], True)
    with pytest.raises(Refusal) as no:
        await moderation.screen("badword worse" + " x" * 3500, account_education=True)
    assert "too long" in no.value.message
    await moderation.owner.execute("UPDATE moderation.filters SET regex = '.*' WHERE filter_type = 10")
    await moderation.deps.filters.refresh()
    with pytest.raises(Refusal):
        await moderation.screen("all of this", "is worse", account_education=True)
    assert {event["reason"] for event in await moderation.events()} == {"filter_rejection"}
