"""ScreenPrompt: a refusal is recorded, whatever happens, and an address that is refused stays out longer each time."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.ip_subject import ip_subject_key
from horde.contract.refusal import Refusal
from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from tests.servers import Restartable


async def refused(moderation: Any, *texts: str, **changed: Any) -> Refusal:
    with pytest.raises(Refusal) as no:
        await moderation.screen(*texts, **changed)
    assert no.value.reason.word == reasons.CORRUPT_PROMPT.word
    refusal: Refusal = no.value
    return refusal


async def two_filters(moderation: Any) -> None:
    await moderation.add_filter(10, "badword", "kindword")
    await moderation.add_filter(20, "worsething")


async def test_without_filters_a_prompt_passes_as_it_is(moderation: Any) -> None:
    passed = await moderation.screen("a badword", "")
    assert (list(passed.texts), passed.rewritten) == (["a badword", ""], False)
    assert await moderation.events() == []


async def test_a_filter_rejection_leaves_evidence_and_puts_the_address_out(moderation: Any) -> None:
    await two_filters(moderation)
    refusal = await refused(moderation, "a b.a.d.w.o.r.d", "a WorseThing\x00")
    assert "terms of service" in refusal.message
    (event,) = await moderation.events()
    prompt = "user: a b.a.d.w.o.r.d\nuser: a WorseThing\ufffd"
    assert (event["reason"], event["outcome"], event["text_state"]) == ("filter_rejection", "rejected", "pending")
    assert (event["submitted_prompt"], event["moderation_prompt"], event["effective_prompt"]) == (prompt, prompt, None)
    assert (event["user_id"], event["ipaddr"], json.loads(event["models"])) == (7, "9.8.7.6", ["a model"])
    assert event["ip_subject_key"] == ip_subject_key("9.8.7.6", "a secret")
    assert 170 < await moderation.seconds_left("9.8.7.6") <= 180
    await refused(moderation, "badword worsething")
    assert 530 < await moderation.seconds_left("9.8.7.6") <= 540


async def test_a_moderator_is_recorded_and_not_put_out(moderation: Any) -> None:
    await two_filters(moderation)
    await refused(moderation, "badword worsething", account_moderator=True)
    assert len(await moderation.events()) == 1
    assert await moderation.seconds_left("9.8.7.6") == 0


async def test_an_origin_without_a_subject_is_recorded_and_never_put_out(moderation: Any) -> None:
    await two_filters(moderation)
    await refused(moderation, "badword worsething", address="unknown")
    (event,) = await moderation.events()
    assert (event["ipaddr"], event["ip_subject_key"], event["origin_text"]) == (None, None, "unknown")
    assert [key async for key in moderation.live.redis.scan_iter("*")] == []


async def test_model_rejections_put_out_only_above_the_threshold(moderation: Any) -> None:
    await moderation.add_filter(10, "badword")
    for _ in range(5):
        refusal = await refused(moderation, "badword", account_flagged=True)
        assert refusal.message == "This prompt cannot be allowed."
    assert await moderation.seconds_left("9.8.7.6") == 0
    refusal = await refused(moderation, "badword", nsfw_model=True)
    assert "NSFW" in refusal.message
    assert await moderation.seconds_left("9.8.7.6") > 0
    assert {event["reason"] for event in await moderation.events()} == {"model_rejection"}


async def test_in_a_raid_the_first_model_rejection_puts_out(moderation: Any) -> None:
    await moderation.owner.execute("UPDATE moderation.settings SET raid = true")
    await moderation.add_filter(10, "badword")
    await refused(moderation, "badword", account_flagged=True)
    assert await moderation.seconds_left("9.8.7.6") > 0


async def test_each_text_of_a_flagged_account_is_rewritten_for_itself(moderation: Any) -> None:
    await two_filters(moderation)
    passed = await moderation.screen("a badword", "hello", account_flagged=True)
    assert (list(passed.texts), passed.rewritten) == (["a kindword", "hello"], True)
    assert await moderation.events() == []


async def test_a_new_filter_is_seen_within_seconds_and_a_broken_one_changes_nothing(moderation: Any) -> None:
    await two_filters(moderation)
    await refused(moderation, "badword worsething")
    await moderation.owner.execute("UPDATE moderation.filters SET regex = '(' WHERE filter_type = 20")
    moderation.clock.advance(timedelta(seconds=5))
    await refused(moderation, "badword worsething")


async def test_evidence_that_cannot_be_written_keeps_the_refusal_and_tells_only_its_type(
    moderation: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await two_filters(moderation)
    await moderation.owner.execute("ALTER TABLE moderation.moderation_events ADD CONSTRAINT full_disk CHECK (false)")
    await refused(moderation, "badword worsething")
    assert "worsething" not in caplog.text
    assert await moderation.seconds_left("9.8.7.6") > 0


async def test_hanging_up_leaves_the_evidence_all_the_same(moderation: Any) -> None:
    await two_filters(moderation)
    await moderation.screen("warm")
    lock = moderation.owner.transaction()
    await lock.start()
    await moderation.owner.execute("LOCK TABLE moderation.moderation_events IN EXCLUSIVE MODE")
    ask = pb.ScreenPromptRequest(account_id=7, address="9.8.7.6", prompt="badword worsething", texts=["x"])
    call = moderation.stub.ScreenPrompt(ask)
    while not moderation.deps.background:  # noqa: ASYNC110 - the service tells nobody that it has begun
        await asyncio.sleep(0.01)
    call.cancel()
    await lock.commit()
    await asyncio.sleep(0.05)
    await moderation.deps.settle()
    assert len(await moderation.events()) == 1


async def test_without_redis_a_rejection_is_recorded_and_refused_and_every_address_may_come_in(
    serving_moderation: Callable[[str], AbstractAsyncContextManager[Any]],
) -> None:
    async with serving_moderation("redis://127.0.0.1:1/0") as moderation:
        await two_filters(moderation)
        await refused(moderation, "badword worsething")
        assert len(await moderation.events()) == 1
        assert await moderation.seconds_left("9.8.7.6") == 0


async def test_with_every_connection_of_the_pool_taken_the_refusal_is_kept_and_comes_in_time(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str
) -> None:
    async with serving_moderation(redis_url, database_pool_size=1, database_wait_seconds=60) as moderation:
        await moderation.add_filter(10, "badword")
        await moderation.screen("warm")
        async with moderation.deps.store.transaction():
            moderation.clock.advance(timedelta(seconds=1.5))  # the modes have to be read anew, the filters have not
            call = asyncio.create_task(moderation.screen("badword", account_flagged=True))
            with pytest.raises(Refusal):
                await asyncio.wait_for(call, 20)
        await moderation.deps.settle()
        assert await moderation.events() == []


async def test_a_redis_that_takes_no_writes_changes_no_refusal(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], restartable_redis: Restartable
) -> None:
    async with serving_moderation(restartable_redis.url) as moderation:
        await moderation.add_filter(10, "badword")
        await moderation.add_filter(20, "worsething")
        await moderation.live.redis.config_set("maxmemory", 1)
        await refused(moderation, "badword worsething")
        await refused(moderation, "badword", account_flagged=True)
        assert [event["reason"] for event in await moderation.events()] == ["filter_rejection", "model_rejection"]
