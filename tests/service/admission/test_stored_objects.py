"""AdmitChat with images and offloaded messages: the row, then the objects, then the request; or nothing at all."""

import asyncio
import json
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.admission_world import MODEL, AdmissionWorld, admission_world, chat
from tests.servers import Database

DATA_URL = "data:image/png;base64," + "A" * 400
THRESHOLD = 3000


@pytest.fixture
async def offloading(database: Database) -> AsyncIterator[AdmissionWorld]:
    """An admission that offloads messages of more than 3000 bytes, and a worker that sees."""
    async with admission_world(
        database, chat_messages_offload_enabled=True, chat_messages_offload_bytes=THRESHOLD
    ) as world:
        await sighted(world)
        yield world


async def sighted(world: AdmissionWorld) -> None:
    await world.worker(chat_features=["prompt_overflow_refused", "vision"], image_transports=["url"])


def seeing(images: int = 1, **keys: Any) -> dict[str, Any]:
    parts = [{"type": "image_url", "image_url": {"url": DATA_URL}}] * images
    return {"model": MODEL, "messages": [{"role": "user", "content": parts}], **keys}


async def left_behind(world: AdmissionWorld) -> tuple[int, int, int]:
    """Rows, holds, postings."""
    return (
        await world.count("dispatch.waiting_prompts"),
        await world.count("admission.kudos_reservations WHERE released_at IS NULL"),
        await world.count("admission.kudos_ledger"),
    )


async def queued_keys(world: AdmissionWorld) -> list[str]:
    await world.deps.clearing.drain(5)
    rows = await world.sql.fetch("SELECT object_key FROM dispatch.object_deletions ORDER BY 1")
    return [row["object_key"] for row in rows]


def stored_size(words: str) -> int:
    """The compact JSON of one message with these words."""
    return len(json.dumps([{"role": "user", "content": words}], separators=(",", ":"), ensure_ascii=False).encode())


async def test_messages_above_the_threshold_are_offloaded_and_the_row_says_so(offloading: AdmissionWorld) -> None:
    words = "é" * 1600
    assert stored_size(words) > THRESHOLD
    answer = await offloading.admit(chat(words))
    row = await offloading.row(answer.request_id)
    assert (row["chat_messages_offloaded"], row["active"]) == (True, True)
    assert json.loads(row["messages"])[0]["content"] == words
    (asked,) = offloading.media.offloaded
    assert asked.request_id == answer.request_id
    assert json.loads(asked.messages) == [{"role": "user", "content": words}]


async def test_messages_of_exactly_the_threshold_stay_in_the_row(offloading: AdmissionWorld) -> None:
    words = "x" * (THRESHOLD - stored_size(""))
    assert stored_size(words) == THRESHOLD
    row = await offloading.row((await offloading.admit(chat(words))).request_id)
    assert not row["chat_messages_offloaded"]
    assert offloading.media.offloaded == []


@pytest.mark.parametrize(("size", "is_offloaded"), [(1000, False), (3000, True)])
async def test_an_image_counts_as_the_data_url_of_its_stored_jpeg(
    offloading: AdmissionWorld, size: int, is_offloaded: bool
) -> None:
    offloading.media.size = size
    answer = await offloading.admit(seeing())
    row = await offloading.row(answer.request_id)
    assert (row["chat_messages_offloaded"], row["active"]) == (is_offloaded, True)
    assert len(offloading.media.offloaded) == is_offloaded
    if is_offloaded:
        image = json.loads(offloading.media.offloaded[0].messages)[0]["content"][0]["image_url"]
        assert image == {"url": f"horde-r2://{answer.request_id}_chat_0.jpg"}


async def test_nothing_is_offloaded_unless_it_is_enabled(database: Database) -> None:
    async with admission_world(database, chat_messages_offload_bytes=100) as world:
        await world.worker()
        row = await world.row((await world.admit(chat("word " * 60))).request_id)
        assert not row["chat_messages_offloaded"]
        assert world.media.offloaded == []


async def test_a_dry_run_stores_nothing(offloading: AdmissionWorld) -> None:
    await offloading.admit(seeing(horde={"dry_run": True}))
    await offloading.admit(chat("x" * 9000, horde={"dry_run": True}))
    assert (offloading.media.asked, offloading.media.offloaded) == (0, [])
    assert await left_behind(offloading) == (0, 0, 0)


async def test_messages_that_cannot_be_offloaded_leave_nothing_behind(offloading: AdmissionWorld) -> None:
    offloading.media.cannot_offload = True
    offloading.media.size = 9000
    client = await offloading.account(kudos=10_000)
    before = await left_behind(offloading)
    with pytest.raises(Refusal) as refused:
        await offloading.admit(seeing(2, max_tokens=4096), key=client.api_key)
    assert refused.value.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
    assert await left_behind(offloading) == before
    keys = await queued_keys(offloading)
    assert [key[36:] for key in keys] == ["_chat_0.jpg", "_chat_1.jpg", "_chat_messages.json"]
    assert sorted(offloading.media.deleted) == keys


async def test_deletes_that_hang_hold_up_no_exit_and_their_keys_stay_queued(database: Database) -> None:
    async with admission_world(database) as world:
        await sighted(world)
        world.media.is_broken = True
        world.media.holds_deletes = asyncio.Event()
        with pytest.raises(Refusal):
            await world.admit(seeing(2))
        leaves_at = monotonic()
    assert monotonic() - leaves_at < 10
    assert world.media.deleted == []
    owner = await asyncpg.connect(database.url)
    keys = await owner.fetch("SELECT object_key FROM dispatch.object_deletions ORDER BY 1")
    await owner.close()
    assert [row["object_key"][36:] for row in keys] == ["_chat_0.jpg", "_chat_1.jpg"]


@pytest.mark.parametrize("body", [seeing(), chat("é" * 1600)], ids=["with an image", "offloaded"])
async def test_what_is_stored_before_it_waits_does_not_count_against_its_own_limit(
    offloading: AdmissionWorld, body: dict[str, Any]
) -> None:
    client = await offloading.account(kudos=1000, concurrency=1)
    first = await offloading.admit(body, key=client.api_key)
    assert (await offloading.row(first.request_id))["active"]
    stored = len(offloading.media.stored), len(offloading.media.offloaded)
    with pytest.raises(Refusal) as refused:
        await offloading.admit(body, key=client.api_key)
    assert refused.value.reason is reasons.TOO_MANY_PROMPTS
    assert (len(offloading.media.stored), len(offloading.media.offloaded)) == stored


async def test_a_hold_that_went_elsewhere_meanwhile_takes_the_stored_images_with_it(world: AdmissionWorld) -> None:
    await sighted(world)
    client = await world.account(kudos=1000)
    world.media.holds = asyncio.Event()
    asking = asyncio.create_task(world.admit(seeing(max_tokens=4096), key=client.api_key))
    while not world.media.stored:  # noqa: ASYNC110 - the fake tells nobody
        await asyncio.sleep(0.005)
    assert await world.count("dispatch.waiting_prompts WHERE NOT active") == 1
    await world.sql.execute("UPDATE admission.users SET concurrency = 0 WHERE id = $1", client.id)
    world.media.holds.set()
    with pytest.raises(Refusal) as refused:
        await asking
    assert refused.value.reason is reasons.TOO_MANY_PROMPTS
    assert await world.count("dispatch.waiting_prompts") == 0
    assert await world.count("admission.kudos_reservations") == 0
    keys = await queued_keys(world)
    assert world.media.deleted == keys == [f"{world.media.stored[0].request_id}_chat_0.jpg"]


async def test_an_operation_that_another_submission_claimed_meanwhile_is_answered_and_its_images_go(
    world: AdmissionWorld,
) -> None:
    await sighted(world)
    world.media.holds = asyncio.Event()
    body = seeing(horde={"operation_key": "7b0c9a52-3f0e-4a0c-9a52-3f0e4a0c9a52"})
    both = [asyncio.create_task(world.admit(body)) for _ in range(2)]
    while len(world.media.stored) < 2:  # noqa: ASYNC110 - the fake tells nobody
        await asyncio.sleep(0.005)
    world.media.holds.set()
    answers = await asyncio.gather(*both)
    assert len({answer.request_id for answer in answers}) == 1
    (kept,) = await world.sql.fetch("SELECT id FROM dispatch.waiting_prompts")
    loser = ({asked.request_id for asked in world.media.stored} - {str(kept["id"])}).pop()
    assert await queued_keys(world) == [f"{loser}_chat_0.jpg"]


async def test_a_caller_who_hangs_up_while_images_are_stored_leaves_nothing_behind(world: AdmissionWorld) -> None:
    await sighted(world)
    world.media.holds = asyncio.Event()
    asking = asyncio.create_task(world.admit(seeing()))
    while not world.media.stored:  # noqa: ASYNC110 - the fake tells nobody
        await asyncio.sleep(0.005)
    asking.cancel()
    request = world.media.stored[0].request_id
    async with asyncio.timeout(10):
        while await world.count("dispatch.waiting_prompts"):  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.02)
    assert await queued_keys(world) == [f"{request}_chat_0.jpg"]
    due = await world.sql.fetchval("SELECT due - now() FROM dispatch.object_deletions")
    assert due.total_seconds() > 30


async def test_a_caller_who_hangs_up_while_it_is_let_in_leaves_a_whole_request_or_none(world: AdmissionWorld) -> None:
    await sighted(world)
    client = await world.account(kudos=1000)
    async with world.sql.transaction():  # holds the account's row, so that letting in waits
        await world.sql.execute("UPDATE admission.users SET contact = contact WHERE id = $1", client.id)
        asking = asyncio.create_task(world.admit(seeing(), key=client.api_key))
        while not world.media.stored:  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)
        asking.cancel()
        await asyncio.sleep(0.2)
    request = UUID(world.media.stored[0].request_id)
    active = f"dispatch.waiting_prompts WHERE id = '{request}' AND active"
    async with asyncio.timeout(10):
        while not await world.count(active):  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.02)
    assert await queued_keys(world) == []
