"""What holds for dry runs as for requests, how long an operation key is claimed, and for whom."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, admission_world, chat
from tests.servers import Database


async def refused(world: AdmissionWorld, body: Any, key: str = "0000000000") -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit(body, key=key)
    return caught.value


async def test_a_dry_run_is_refused_as_the_request_would_be(world: AdmissionWorld) -> None:
    poor = await world.account(concurrency=1)
    dry = {"dry_run": True}
    assert (await refused(world, chat(horde=dry), "nobody")).reason.key == "InvalidAPIKey"
    assert (await refused(world, chat(model="unknown", horde=dry))).reason.key == "UnknownChatModel"
    assert (await refused(world, chat("x" * 99_999, horde=dry))).reason.key == "NoEligibleWorker"
    await world.worker()
    assert (await refused(world, chat("x" * 99_999, horde=dry))).reason.key == "PromptExceedsContext"
    assert (await refused(world, chat(horde={**dry, "max_kudos": 1}))).reason.key == "ChatKudosCapExceeded"
    assert (await refused(world, chat(horde={**dry, "slow_workers": False}), poor.api_key)).reason.key == "KudosUpfront"
    await world.admit(chat(), key=poor.api_key)
    assert (await refused(world, chat(horde=dry), poor.api_key)).reason.key == "TooManyPrompts"


async def test_with_admission_off_dry_runs_are_refused_too(database: Database) -> None:
    async with admission_world(database, chat_admission_enabled=False) as world:
        await world.worker()
        body = chat(horde={"dry_run": True, "operation_key": str(uuid4())})
        assert (await refused(world, body, "nobody")).reason.key == "ChatAdmissionDisabled"


async def test_a_dry_run_is_lowered_grown_and_trimmed_as_the_request_would_be(world: AdmissionWorld) -> None:
    await world.worker(chat_max_length=600)
    turns = [{"role": role, "content": "word " * 2000} for role in ("user", "assistant") * 3]
    body = {"model": MODEL, "messages": [*turns, {"role": "user", "content": "last"}], "max_tokens": 1024}
    quote = await world.admit({**body, "horde": {"dry_run": True}})
    row = await world.row((await world.admit(body)).request_id)
    resolved = json.loads(quote.resolved)
    assert resolved["params"] == json.loads(row["params"])
    assert resolved["params"] == {"max_length": 600, "max_context_length": 8192}
    assert resolved["prompt"] == row["prompt"]
    lowered, grown, trimmed = json.loads(row["context_adjustments"])
    assert [lowered["reason"], grown["reason"]] == ["worker_max_length", "grow"]
    assert (trimmed["reason"], trimmed["to"]) == ("truncate_oldest", resolved["estimated_prompt_tokens"])
    assert resolved["context_fit"] == "grow"


async def test_a_context_above_every_worker_is_not_lowered_but_waits(world: AdmissionWorld) -> None:
    await world.worker()
    answer = await world.admit(chat(horde={"max_context_length": 100_000}))
    row = await world.row(answer.request_id)
    assert answer.message
    assert (row["max_context_length"], row["context_adjustments"]) == (100_000, None)


async def test_a_text_that_a_filter_empties_becomes_an_empty_string(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, flagged=True)
    world.moderation.replaces["bad"] = ""
    messages = [{"role": "user", "content": "bad"}, {"role": "assistant", "content": "fine"}]
    row = await world.row((await world.admit({**chat(), "messages": messages}, key=client.api_key)).request_id)
    assert [message["content"] for message in json.loads(row["messages"])] == ["", "fine"]
    assert (row["prompt"], row["submitted_prompt"]) == ("user: \nassistant: fine", "user: bad\nassistant: fine")


async def test_two_different_requests_at_once_under_one_key_make_one_request_and_a_conflict(
    world: AdmissionWorld,
) -> None:
    await world.worker()
    client = await world.account(kudos=10_000)
    key = {"operation_key": str(uuid4()), "slow_workers": False}
    answers = await asyncio.gather(
        *(world.admit(chat(f"{number}", horde=key), key=client.api_key) for number in range(6)), return_exceptions=True
    )
    queued = [answer for answer in answers if isinstance(answer, pb.AdmitChatResponse)]
    conflicts = [answer.reason.key for answer in answers if isinstance(answer, Refusal)]
    assert (len(queued), conflicts) == (1, ["OperationKeyConflict"] * 5)
    assert await world.count("dispatch.waiting_prompts") == 1
    assert await world.count("admission.kudos_reservations") == 1


async def test_a_shared_keys_operation_is_claimed_for_its_owner(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    shared = uuid4()
    await world.sql.execute("INSERT INTO admission.user_sharedkeys (id, user_id) VALUES ($1, $2)", shared, owner.id)
    body = chat(horde={"operation_key": str(uuid4())})
    first = await world.admit(body, key=str(shared))
    again = await world.admit(body, key=owner.api_key)
    assert (again.outcome, again.request_id) == (pb.ADMIT_OUTCOME_REPEATED, first.request_id)


async def test_a_repeat_is_answered_before_the_concurrency_limit_and_takes_nothing(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, concurrency=1)
    body = chat(horde={"operation_key": str(uuid4())})
    first = await world.admit(body, key=client.api_key)
    assert (await world.admit(body, key=client.api_key)).request_id == first.request_id
    assert (await refused(world, chat(), client.api_key)).reason.key == "TooManyPrompts"
    assert (await world.find(client.api_key)).kudos_hundredths == 100_000 - 100


async def test_an_operation_key_is_free_again_when_the_requests_row_is_gone(world: AdmissionWorld) -> None:
    await world.worker()
    body = chat(horde={"operation_key": str(uuid4())})
    first = await world.admit(body)
    await world.sql.execute("SELECT admission.forget_requests_v1($1)", [UUID(first.request_id)])
    second = await world.admit(body)
    assert second.outcome == pb.ADMIT_OUTCOME_QUEUED
    assert second.request_id != first.request_id
