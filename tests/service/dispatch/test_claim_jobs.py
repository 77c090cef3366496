import asyncio
import uuid
from typing import Any

from prometheus_client import REGISTRY

from horde.contract.api_keys import hash_api_key, lease_key
from horde.contract.vocabulary import chat_declaration as sdk
from horde.rpc import deadlines
from services.dispatch.handlers.claim_jobs import claim_jobs
from services.dispatch.wire import pop as wire
from tests.fakes.dispatch_pops import Pops, chat_declaration, job_of, pop_request
from tests.fakes.dispatch_world import MODEL, SECRET
from tests.fakes.patience import until

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
OTHER = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object"}}}
SAMPLING = {
    "temperature": 1.0,
    "top_p": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "rep_pen": 1.0,
    "top_k": 0,
    "min_p": 0.0,
}


async def popped(pops: Pops, /, **columns: Any) -> dict[str, Any]:
    """The job that a worker gets when one chat request waits."""
    await pops.world.chat(await pops.world.account("requester"), **columns)
    return job_of(await pops.pop(await pops.world.account("owner", 1)))


def _left_pops() -> float:
    """How many callers of ClaimJobs went away before their answer so far."""
    labels = {"service": "dispatch", "method": "ClaimJobs", "code": "CANCELLED"}
    return REGISTRY.get_sample_value("horde_rpc_server_seconds_count", labels) or 0.0


async def test_a_waiting_chat_request_goes_to_a_worker_that_fits(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    request = await pops.world.chat(await pops.world.account("requester"))

    answer = await pops.pop(owner)

    (row,) = await pops.world.generations(request)
    assert (answer.chat, answer.model, answer.ttl_seconds) == (True, MODEL, 150)
    assert list(answer.generation_ids) == [str(row["id"])]
    assert (row["job_ttl"], row["lease_cap"], row["worker_trusted"]) == (150, 600, True)
    assert (row["lease_until"] - row["start_time"]).total_seconds() == 150
    assert (row["assigned_model"], row["assigned_max_context_length"], row["assigned_max_length"]) == (
        MODEL,
        4096,
        1024,
    )
    assert (await pops.world.request(request))["n"] == 0
    assert not await pops.world.is_waiting(request)


async def test_an_untrusted_worker_may_lengthen_its_lease_less(pops: Pops) -> None:
    request = await pops.world.chat(await pops.world.account("requester"))

    await pops.pop(await pops.world.account("owner"))

    (row,) = await pops.world.generations(request)
    assert (row["lease_cap"], row["worker_trusted"]) == (200, False)


async def test_a_plain_chat_payload_has_these_keys_and_no_other(pops: Pops) -> None:
    job = await popped(pops)

    assert job["payload"] == {
        "messages": [{"role": "user", "content": "Hello"}],
        **SAMPLING,
        "max_length": 512,
        "max_context_length": 2048,
        "n": 1,
    }


async def test_what_the_client_sent_is_in_the_payload(pops: Pops) -> None:
    sent = {"temperature": 0.3, "seed": 7, "reasoning_effort": "low", "stop_sequence": ["END"]}

    job = await popped(pops, params=sent)

    assert {key: job["payload"][key] for key in sent} == sent


async def test_a_named_function_arrives_as_that_one_tool_required(pops: Pops) -> None:
    choice = {"type": "function", "function": {"name": "look"}}

    job = await popped(pops, chat_extras={"tools": [OTHER, TOOL], "tool_choice": choice})

    assert (job["payload"]["tools"], job["payload"]["tool_choice"]) == ([TOOL], "required")


async def test_under_tool_choice_none_no_tool_key_arrives(pops: Pops) -> None:
    form = {"type": "json_object"}
    extras = {"tools": [TOOL], "tool_choice": "none", "parallel_tool_calls": False, "response_format": form}

    job = await popped(pops, chat_extras=extras)

    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(job["payload"])
    assert job["payload"]["response_format"] == form


async def test_the_sdk_reads_every_chat_job(pops: Pops) -> None:
    extras = {
        "tools": [TOOL],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
    }

    job = await popped(pops, chat_extras=extras, params={"stop_sequence": ["a"], "seed": 1})

    read = sdk.ChatJobPayload.from_pop(job)
    assert (read.job_id, read.model, read.seed, read.stop_sequence) == (job["id"], MODEL, 1, ("a",))
    assert read.parallel_tool_calls is False


async def test_images_arrive_as_signed_urls(pops: Pops) -> None:
    image = {"type": "image_url", "image_url": {"url": "horde-r2://a_chat_0.jpg", "detail": "low"}}
    spoken = [{"role": "user", "content": [{"type": "text", "text": "what?"}, image]}]

    job = await popped(pops, messages=spoken, has_images=True, image_keys=["a_chat_0.jpg"])

    shown = job["payload"]["messages"][0]["content"][1]
    assert shown == {"type": "image_url", "image_url": {"url": "https://objects.test/a_chat_0.jpg", "detail": "low"}}
    assert pops.media.signed[0].valid_seconds == 600
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") == "url"


async def test_a_worker_that_takes_base64_alone_gets_the_bytes(pops: Pops) -> None:
    image = {"type": "image_url", "image_url": {"url": "horde-r2://k"}}
    await pops.world.chat(
        await pops.world.account("requester"),
        messages=[{"role": "user", "content": [image]}],
        has_images=True,
        image_keys=["k"],
    )

    answer = await pops.pop(await pops.world.account(), chat=chat_declaration(image_transports=["base64"]))

    shown = job_of(answer)["payload"]["messages"][0]["content"][0]["image_url"]["url"]
    assert shown == "data:image/jpeg;base64,k"
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") == "base64"


async def test_a_job_whose_images_cannot_be_delivered_waits_again(pops: Pops) -> None:
    image = {"type": "image_url", "image_url": {"url": "horde-r2://k"}}
    request = await pops.world.chat(
        await pops.world.account("requester"),
        messages=[{"role": "user", "content": [image]}],
        has_images=True,
        image_keys=["k"],
    )
    pops.media.is_down = True

    answer = await pops.pop(owner := await pops.world.account())

    assert list(answer.generation_ids) == []
    assert await pops.world.generations(request) == []
    assert (await pops.world.request(request))["n"] == 1
    pops.media.is_down = False
    assert len((await pops.pop(owner)).generation_ids) == 1


async def test_a_worker_that_cannot_get_images_gets_a_job_without_them(pops: Pops) -> None:
    requester = await pops.world.account("requester")
    first = await pops.world.chat(requester, priority=100, has_images=True, image_keys=["k"])
    second = await pops.world.chat(requester)
    pops.media.is_down = True

    await pops.pop(await pops.world.account())

    assert await pops.world.generations(first) == []
    assert len(await pops.world.generations(second)) == 1


async def test_a_pop_whose_caller_goes_away_while_it_is_handed_a_job_leaves_the_job_to_others(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    request = await pops.world.chat(await pops.world.account("requester"), has_images=True, image_keys=["k"])
    pops.media.is_reading.clear()
    pop = asyncio.create_task(pops.pop(owner, chat=chat_declaration(image_transports=["base64"])))
    await until(lambda: pops.media.asked_within != [])
    left = _left_pops()
    pop.cancel()
    await until(lambda: _left_pops() > left)
    pops.media.is_reading.set()

    async def waits_again() -> bool:
        return await pops.world.is_waiting(request) and not await pops.world.generations(request)

    await until(waits_again)
    assert (await pops.world.request(request))["n"] == 1


async def test_images_leave_a_pop_the_time_to_hand_another_job_out(pops: Pops) -> None:
    await pops.world.chat(await pops.world.account("requester"), has_images=True, image_keys=["k"])

    await pops.pop(await pops.world.account(), chat=chat_declaration(image_transports=["base64"]))

    (seconds,) = pops.media.asked_within
    # the gateway waits 15 seconds for the whole of it
    assert seconds <= 15 / 2 + 1


async def test_a_pop_with_too_little_time_left_takes_no_other_job_that_nobody_would_hear_of(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    first = await pops.world.chat(requester, priority=100, has_images=True, image_keys=["k"])
    second = await pops.world.chat(requester)
    declared = chat_declaration(image_transports=["base64"])
    await pops.pop(owner, models=["another"], chat=None)
    pops.media.is_reading.clear()

    deadlines.adopt(0.5)
    claim = await claim_jobs(wire.ask(pop_request(owner, chat=declared)), pops.deps)
    deadlines.adopt(None)

    assert claim.generation_ids == ()
    for request in (first, second):
        assert await pops.world.generations(request) == []
        assert (await pops.world.request(request))["n"] == 1


async def test_a_streamed_job_has_its_lease_before_the_worker_gets_it(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    request = await pops.world.chat(await pops.world.account("requester"), chat_extras={"stream_progress": True})

    answer = await pops.pop(owner)

    (lease,) = pops.progress.opened
    assert job_of(answer)["payload"]["stream_progress"] is True
    assert (lease.generation_id, lease.request_id) == (answer.generation_ids[0], str(request))
    assert (lease.owner_id, lease.key) == (owner.id, lease_key(hash_api_key(SECRET, owner.api_key)))
    assert (lease.max_bytes, lease.job_ttl_seconds, lease.lease_cap_seconds) == (16 * 512, 150, 600)
    assert (lease.model, lease.trusted, lease.fake) == (MODEL, True, False)
    assert await pops.world.value("SELECT streamed FROM dispatch.processing_gens")


async def test_progress_being_down_does_not_fail_the_pop(pops: Pops) -> None:
    await pops.world.chat(await pops.world.account("requester"), chat_extras={"stream_progress": True})
    pops.progress.is_down = True

    assert len((await pops.pop(await pops.world.account())).generation_ids) == 1


async def test_a_job_that_does_not_stream_has_no_lease(pops: Pops) -> None:
    await popped(pops)

    assert pops.progress.opened == []


async def test_a_text_payload_has_the_sent_keys_and_the_defaults(pops: Pops) -> None:
    await pops.world.text(await pops.world.account("requester"), "Once", params={"temperature": 0.7, "unknown": 1})

    answer = await pops.pop(await pops.world.account(), chat=None)

    assert not answer.chat
    assert job_of(answer)["payload"] == {
        "prompt": "Once",
        "n": 1,
        "temperature": 0.7,
        "min_p": 0.0,
        "smoothing_factor": 0.0,
        "dynatemp_range": 0.0,
        "dynatemp_exponent": 1.0,
        "max_length": 80,
        "max_context_length": 2048,
    }


async def test_a_worker_takes_as_many_jobs_of_one_request_as_it_asks_for(pops: Pops) -> None:
    request = await pops.world.text(await pops.world.account("requester"), jobs=5)
    owner = await pops.world.account()

    assert len((await pops.pop(owner, amount=3)).generation_ids) == 3
    assert (await pops.world.request(request))["n"] == 2
    assert await pops.world.is_waiting(request)
    assert len((await pops.pop(owner, amount=3)).generation_ids) == 2
    assert not await pops.world.is_waiting(request)
    assert len(await pops.world.generations(request)) == 5


async def test_ten_pops_at_once_never_get_the_same_job(pops: Pops) -> None:
    requester = await pops.world.account("requester")
    requests = [await pops.world.chat(requester) for _ in range(6)]
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner, "early", models=["another"], chat=None)

    answers = await asyncio.gather(*(pops.pop(owner, f"worker {number}") for number in range(10)))

    got = [generation for answer in answers for generation in answer.generation_ids]
    assert len(got) == len(set(got)) == 6
    for request in requests:
        assert len(await pops.world.generations(request)) == 1


async def test_ten_pops_at_once_share_the_jobs_of_one_request(pops: Pops) -> None:
    request = await pops.world.text(await pops.world.account("requester"), jobs=10)
    owner = await pops.world.account("owner", 1)

    answers = await asyncio.gather(*(pops.pop(owner, f"worker {number}") for number in range(10)))

    assert [len(answer.generation_ids) for answer in answers] == [1] * 10
    assert (await pops.world.request(request))["n"] == 0


async def test_the_pop_lets_the_request_live_on(pops: Pops) -> None:
    request = await pops.world.chat(await pops.world.account("requester"))
    await pops.world.run(
        "UPDATE dispatch.waiting_prompts SET expiry = now() + interval '5 seconds' WHERE id = $1", request
    )

    await pops.pop(await pops.world.account())

    left = await pops.world.value("SELECT expiry - now() FROM dispatch.waiting_prompts WHERE id = $1", request)
    assert left.total_seconds() > 1100


async def test_an_empty_queue_gives_no_job(pops: Pops) -> None:
    answer = await pops.pop(await pops.world.account())

    assert list(answer.generation_ids) == []
    assert (answer.payload, dict(answer.skipped)) == (b"", {})


async def test_a_text_job_over_the_capacity_is_handed_out_and_marked(pops: Pops) -> None:
    request = await pops.world.text(await pops.world.account("requester"), max_length=2000)

    await pops.pop(await pops.world.account(), max_length=4096)

    assert [row["over_capacity_at_assignment"] for row in await pops.world.generations(request)] == [True]


async def test_every_generation_has_an_id_of_its_own(pops: Pops) -> None:
    await pops.world.text(await pops.world.account("requester"), jobs=3)

    got = list((await pops.pop(await pops.world.account(), amount=20)).generation_ids)

    assert len({uuid.UUID(generation) for generation in got}) == 3


async def test_a_worker_that_is_deleted_between_its_look_and_its_claim_is_told_so_and_takes_nothing(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    request = await pops.world.chat(owner)
    # the delete comes at the last possible moment: while the claim writes its generation
    await pops.world.run(
        """CREATE FUNCTION dispatch.delete_worker_first() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN DELETE FROM dispatch.workers WHERE id = NEW.worker_id; RETURN NEW; END $$"""
    )
    await pops.world.run(
        """CREATE TRIGGER delete_worker_first BEFORE INSERT ON dispatch.processing_gens
           FOR EACH ROW EXECUTE FUNCTION dispatch.delete_worker_first()"""
    )
    assert (await pops.refused(owner)).reason.word == "WorkerNotFound"
    assert (await pops.world.request(request))["n"] == 1
    assert await pops.world.is_waiting(request)
    await pops.world.run("DROP TRIGGER delete_worker_first ON dispatch.processing_gens")
    assert len((await pops.pop(owner)).generation_ids) == 1
