"""The instruments around leases, faults and waiting: each counts what the reference says, under its very labels."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from prometheus_client import REGISTRY

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.loops.abort_stale_leases import abort_stale_leases
from services.dispatch.rules.waking import Notice
from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account
from tests.fakes.patience import until

_DEADLINE = timedelta(seconds=20)
_ANYTHING = Notice(
    jobs=1,
    is_chat=True,
    models=None,
    features=frozenset(),
    has_images=False,
    trusted_workers=False,
    validated_backends=False,
    min_speed=0,
    max_length=1,
    max_context_length=1,
    tools_temperature=None,
    user_id=None,
    workers=None,
    avoids_workers=False,
)


def _counting(name: str, **labels: str) -> Callable[[], float]:
    """What an instrument has counted since now."""

    def read() -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    before = read()
    return lambda: read() - before


async def _over_capacity(pops: Pops, owner: Account, max_length: int = 512) -> str:
    """A text job handed to a worker of 2 tokens a second, which makes 240 inside the lease."""
    await pops.world.text(owner, max_length=max_length)
    answer = await pops.pop(owner, max_length=8192)
    return answer.generation_ids[0]


async def _submit(pops: Pops, owner: Account, generation: str) -> None:
    call = pops.caller.once(pops.stub.SubmitResult, deadline=_DEADLINE)
    caller = Caller(api_key=owner.api_key)
    await call(pb.SubmitResultRequest(caller=caller, generation_id=generation, state="ok", generation="text"))


async def _fault(pops: Pops, owner: Account, generation: str, **fields: Any) -> None:
    call = pops.caller.once(pops.stub.SubmitFault, deadline=_DEADLINE)
    await call(pb.SubmitFaultRequest(caller=Caller(api_key=owner.api_key), generation_id=generation, **fields))


async def _lapse(pops: Pops, generation: str) -> None:
    await pops.world.run(
        "UPDATE dispatch.processing_gens SET lease_until = now() - interval '1 second' WHERE id = $1", UUID(generation)
    )
    await abort_stale_leases(pops.deps)


async def test_pops_are_counted_whose_measured_speed_caps_the_chat_output_they_are_offered(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    counted = _counting("horde_pop_lease_capacity_limited_total", gentype="text")
    await pops.pop(owner)
    assert counted() == 0
    await pops.world.change_worker("worker", speed=8.54)
    await pops.pop(owner)
    assert counted() == 0
    await pops.world.change_worker("worker", speed=8.5)
    await pops.pop(owner)
    await pops.pop(owner, chat=None)
    assert counted() == 1
    waiting = asyncio.create_task(pops.pop(owner, wait_seconds=20))
    await until(lambda: any(seat.is_waiting for seat in pops.deps.room.seats))
    (seat,) = pops.deps.room.seats
    pops.deps.room.tell(_ANYTHING)
    await until(lambda: seat.is_waiting and seat._next is None and seat._looking_for is None)
    pops.deps.room.close()
    await waiting
    assert counted() == 2


async def test_text_jobs_over_the_workers_capacity_are_followed_from_assignment_to_end(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    await pops.world.change_worker("worker", speed=2.0)
    labels = {"worker_trusted": "true", "size_bucket": "<=512"}
    assigned = _counting("horde_text_gate_shadow_assignments_total", **labels)
    ended = {
        ending: _counting("horde_text_gate_shadow_outcomes_total", outcome=ending, **labels)
        for ending in ("completed", "faulted", "aborted")
    }
    seconds = _counting("horde_text_gate_shadow_service_seconds_count", **labels)
    stale = _counting("horde_text_stale_aborts_total", worker_trusted="true", chat="false")

    completed = await _over_capacity(pops, owner)
    await _submit(pops, owner, completed)
    await _fault(pops, owner, await _over_capacity(pops, owner))
    await pops.world.run("DELETE FROM dispatch.waiting_prompts WHERE n > 0")
    await _lapse(pops, await _over_capacity(pops, owner))

    assert assigned() == 3
    assert {ending: count() for ending, count in ended.items()} == {"completed": 1, "faulted": 1, "aborted": 1}
    await pops.world.run("DELETE FROM dispatch.waiting_prompts WHERE n > 0")
    await pops.world.text(owner, max_length=512, jobs=3)
    assert len((await pops.pop(owner, max_length=8192, amount=3)).generation_ids) == 3
    assert assigned() == 6
    assert (seconds(), stale()) == (1, 1)
    assert await pops.world.value("SELECT bool_and(over_capacity_at_assignment) FROM dispatch.processing_gens")


async def test_a_text_job_inside_the_capacity_and_a_fake_one_are_not_followed(pops: Pops) -> None:
    owner, requester = await pops.world.account(), await pops.world.account("requester")
    await pops.pop(owner)
    await pops.world.change_worker("worker", speed=2.0)
    counts = [
        _counting("horde_text_gate_shadow_assignments_total", worker_trusted="false", size_bucket=bucket)
        for bucket in ("<=512", "513-1024", "1025-2048", "2049-4096", ">4096")
    ]
    await pops.world.text(requester, max_length=240)
    await pops.pop(owner)
    await pops.world.change_worker("worker", paused=True)
    await pops.world.text(requester, max_length=512)
    assert len((await pops.pop(owner)).generation_ids) == 1
    assert [count() for count in counts] == [0, 0, 0, 0, 0]
    await pops.world.change_worker("worker", paused=False)
    for max_length in (512, 1024, 2048, 4096, 4097):
        await pops.world.run("DELETE FROM dispatch.waiting_prompts")
        await _over_capacity(pops, owner, max_length)
    assert [count() for count in counts] == [1, 1, 1, 1, 1]


async def test_a_lapsed_chat_job_is_a_stale_abort_and_a_fake_one_is_none(pops: Pops) -> None:
    owner, requester = await pops.world.account(), await pops.world.account("requester")
    stale = _counting("horde_text_stale_aborts_total", worker_trusted="false", chat="true")
    await pops.world.chat(requester)
    await _lapse(pops, (await pops.pop(owner)).generation_ids[0])
    assert stale() == 1
    await pops.world.change_worker("worker", paused=True)
    await _lapse(pops, (await pops.pop(owner)).generation_ids[0])
    assert stale() == 1


async def test_faulted_chat_submits_are_counted_by_the_reason_sent_a_repeat_again(pops: Pops) -> None:
    owner = await pops.world.account()
    counts = {
        reason: _counting("horde_chat_worker_faults_total", reason=reason, worker_trusted="false")
        for reason in ("prompt_overflow", "reply_refused", "unknown", "none")
    }
    await pops.world.chat(owner)
    chat = (await pops.pop(owner)).generation_ids[0]
    await _fault(pops, owner, chat, fault_reason="prompt_overflow", chat=True)
    await _fault(pops, owner, chat, fault_reason="reply_refused", chat=True)
    await _fault(pops, owner, chat, fault_reason="my own words", chat=True)
    await _fault(pops, owner, chat, chat=True)
    await pops.world.run("DELETE FROM dispatch.waiting_prompts")
    await pops.world.text(owner)
    await _fault(pops, owner, (await pops.pop(owner)).generation_ids[0])
    assert {reason: count() for reason, count in counts.items()} == dict.fromkeys(counts, 1)


async def test_the_time_until_assignment_is_recorded_by_who_asked(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    anonymous = await pops.world.anonymous()
    labels = {"chat": "true", "requested_bucket": "513-1024"}
    waits = {
        requester: _counting("horde_text_queue_wait_seconds_count", requester=requester, **labels)
        for requester in ("anonymous", "registered", "shared_key")
    }
    key = "11111111-2222-4333-8444-555555555555"
    for requester, more in ((anonymous, {}), (owner, {}), (owner, {"sharedkey_id": key})):
        await pops.world.chat(requester, max_length=600, **more)
        assert len((await pops.pop(owner)).generation_ids) == 1
    assert {requester: count() for requester, count in waits.items()} == dict.fromkeys(waits, 1)
