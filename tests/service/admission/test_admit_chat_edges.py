"""Submissions at the edges: order of refusals, moderation's no, image caps by account, counters."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, admission_world, chat
from tests.servers import Database

MEGABYTE = 1024 * 1024
VISION: dict[str, Any] = {"chat_features": ["prompt_overflow_refused", "vision"], "image_transports": ["base64"]}


async def refused(world: AdmissionWorld, body: Any, **caller: str) -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit(body, **caller)
    return caught.value


def counted(name: str, **labels: str) -> float:
    """A counter's value now."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


def image(megabytes: float) -> dict[str, Any]:
    """An image part of about this size."""
    payload = "A" * (int(megabytes * MEGABYTE) * 4 // 3 // 4 * 4)
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{payload}"}}


async def test_the_first_refusal_wins(database: Database) -> None:
    """Each fault is added on top of the ones below it; the one that comes first in the order is told."""
    async with admission_world(database) as world:
        await world.worker()
        client = await world.account(concurrency=0, flagged=True)
        world.moderation.timeouts["203.0.113.9"] = 60
        world.moderation.refuses = Refusal(reasons.CORRUPT_PROMPT, "not allowed")
        body = chat(model="unknown", max_tokens=4096)
        assert (await refused(world, body, key=client.api_key)).reason.key == "TooManyPrompts"
        await world.sql.execute("UPDATE admission.users SET concurrency = 30 WHERE id = $1", client.id)
        assert (await refused(world, body, key=client.api_key)).reason.key == "TimeoutIP"
        address = {"remote_address": "203.0.113.10"}
        assert (await refused(world, body, key=client.api_key, **address)).reason.key == "CorruptPrompt"
        world.moderation.refuses = None
        assert (await refused(world, body, key=client.api_key, **address)).reason.key == "UnknownChatModel"
        await world.sql.execute("UPDATE moderation.settings SET maintenance = true")
        assert (await refused(world, body, key="nobody")).reason.key == "MaintenanceMode"
        assert (await refused(world, {**body, "logprobs": 1})).reason.key == "UnsupportedChatParameter"


async def test_a_filter_makes_every_prompt_screened(world: AdmissionWorld) -> None:
    await world.worker()
    world.moderation.is_filtering = True
    await world.deps.policy.refresh()
    await world.admit(chat())
    assert [list(asked.texts) for asked in world.moderation.screened] == [["hello"]]
    assert world.moderation.screened[0].prompt == "user: hello"


async def test_an_untrusted_account_sends_five_megabytes_and_a_trusted_one_twenty_five(world: AdmissionWorld) -> None:
    await world.worker(**VISION)
    body = {"model": MODEL, "messages": [{"role": "user", "content": [image(3), image(3)]}]}
    no = await refused(world, body)
    assert no.reason.key == "SourceImageSizeExceeded"
    assert str(5 * MEGABYTE) in no.message
    assert (await refused(world, {**body, "horde": {"dry_run": True}})).reason.key == "SourceImageSizeExceeded"
    trusted = await world.account(trusted=True, kudos=100)
    await world.admit(body, key=trusted.api_key)
    assert world.media.stored[0].max_total_bytes == 25 * MEGABYTE


async def test_medias_own_refusal_is_passed_on_and_nothing_stays(world: AdmissionWorld) -> None:
    await world.worker(**VISION)
    world.media.refuses = Refusal(reasons.SOURCE_IMAGE_UNREADABLE, "image 0 is no image")
    body = {"model": MODEL, "messages": [{"role": "user", "content": [image(0.001)]}]}
    assert (await refused(world, body)).reason.key == "SourceImageUnreadable"
    assert await world.count("dispatch.waiting_prompts") == 0


async def test_a_refused_image_is_named_by_where_it_stands_in_the_body_as_sent(world: AdmissionWorld) -> None:
    await world.worker(**VISION)
    world.media.refuses = Refusal(reasons.SOURCE_IMAGE_UNREADABLE, "Image 1 is none.", {"image": 1})
    dropped = {"role": "user", "content": [image(0.001), {"type": "text", "text": "x" * 24_000}]}
    kept = {"role": "user", "content": [image(0.001), {"type": "text", "text": "and"}, image(0.001)]}
    no = await refused(world, {"model": MODEL, "messages": [dropped, kept]})
    assert dict(no.facts) == {"param": "messages[1].content[2].image_url"}
    no = await refused(world, {"model": MODEL, "messages": [{"role": "user", "content": [image(3), image(3)]}]})
    assert (no.reason.key, dict(no.facts)) == (
        "SourceImageSizeExceeded",
        {"param": "messages[0].content[1].image_url"},
    )


async def test_images_of_dropped_turns_are_neither_stored_nor_charged(world: AdmissionWorld) -> None:
    await world.worker(**VISION)
    old = {"role": "user", "content": [image(0.001), {"type": "text", "text": "x" * 24_000}]}
    body = {"model": MODEL, "messages": [old, {"role": "user", "content": "and now?"}]}
    row = await world.row((await world.admit(body)).request_id)
    assert not row["has_images"]
    assert row["image_keys"] == []
    assert row["consumed_kudos"] == 100
    assert row["chat_required_features"] == ["prompt_overflow_refused"]
    assert world.media.stored == []


async def test_too_many_stop_sequences_are_refused_after_the_model(world: AdmissionWorld) -> None:
    stops = [str(number) for number in range(129)]
    assert (await refused(world, chat(stop=stops))).reason.key == "NoEligibleWorker"
    await world.worker()
    assert (await refused(world, chat(stop=stops))).reason.key == "TooManyStopSequences"


async def test_extras_features_and_the_stream_hint_are_stored(world: AdmissionWorld) -> None:
    await world.worker()
    tool = {"type": "function", "function": {"name": "f"}}
    body = chat(tools=[tool], tool_choice="required", stream=True, temperature=0.5)
    row = await world.row((await world.admit(body)).request_id)
    assert json.loads(row["chat_extras"]) == {"tools": [tool], "tool_choice": "required", "stream_progress": True}
    assert row["chat_required_features"] == ["prompt_overflow_refused", "tool_choice_enforced", "tools"]
    assert row["chat_tools_temperature"] == 0.5
    assert row["prompt"].endswith('[{"type":"function","function":{"name":"f"}}]')
    assert row["context_adjustments"] is None


async def test_what_was_decided_is_counted_but_not_for_dry_runs(world: AdmissionWorld) -> None:
    await world.worker(chat_max_length=1024)
    labels = {"requested_bucket": "1025-2048", "allowance_bucket": "2049-4096", "chat": "true"}
    decisions = "horde_text_free_allowance_decisions_total"
    free = {"requester": "anonymous", "outcome": "free", **labels}
    lowered = {"requested_bucket": "1025-2048", "declared_bucket": "513-1024", "dry_run": "true"}
    before = counted(decisions, **free), counted("horde_chat_max_length_lowered_total", **lowered)
    fits = counted("horde_text_context_fit_total", context_fit_mode="grow", context_fit_outcome="fits")
    await world.admit(chat(max_tokens=2000, horde={"dry_run": True}))
    assert counted(decisions, **free) == before[0]
    await world.admit(chat(max_tokens=2000))
    assert counted(decisions, **free) == before[0] + 1
    assert counted("horde_chat_max_length_lowered_total", **lowered) == before[1] + 1
    assert counted("horde_text_context_fit_total", context_fit_mode="grow", context_fit_outcome="fits") == fits + 2
    waits = "horde_text_free_allowance_estimated_wait_seconds_count"
    assert counted(waits, chat="true", requester="anonymous") >= 1


async def test_many_at_once_never_pass_the_concurrency_limit(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, concurrency=5)
    answers = await asyncio.gather(
        *(world.admit(chat(), key=client.api_key) for _ in range(12)), return_exceptions=True
    )
    queued = [answer for answer in answers if isinstance(answer, pb.AdmitChatResponse)]
    others = [answer for answer in answers if isinstance(answer, Refusal)]
    assert (len(queued), {no.reason.key for no in others}) == (5, {"TooManyPrompts"})


async def test_find_account_tells_who_owns_a_key(world: AdmissionWorld) -> None:
    client = await world.account("alice", kudos=1000, trusted=True, concurrency=7)
    found = await world.find(client.api_key)
    assert (found.id, found.username, found.kudos_hundredths) == (client.id, client.username, 100_000)
    assert (found.trusted, found.moderator, found.flagged, found.concurrency) == (True, False, False, 7)
    assert (await world.find("0000000000")).username == "Anonymous#0"
    with pytest.raises(Refusal) as caught:
        await world.find("nobody")
    assert caught.value.reason.key == "InvalidAPIKey"


async def test_a_big_body_is_read_beside_the_other_calls(world: AdmissionWorld) -> None:
    await world.worker()
    client, may_go_on = await world.account(), threading.Event()
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as only_thread:
        loop.set_default_executor(only_thread)
        busy = loop.run_in_executor(None, may_go_on.wait, 20)
        big = asyncio.create_task(world.admit(chat(metadata={"note": "x" * 300_000})))
        small = await world.admit(chat(), key=client.api_key)
        assert small.request_id
        assert not big.done()
        may_go_on.set()
        assert await busy
        assert (await big).request_id
