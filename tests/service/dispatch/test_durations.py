"""Every pop and every submit leaves its times in base-domain 12's histograms, each step in its own."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY

from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from tests.fakes.dispatch_pops import Pops

_DEADLINE = timedelta(seconds=20)
STEPS_OF_A_POP = ("pop", "pop_pre_eval", "pop_validate", "pop_check_in")


def counting(step: str, **labels: str) -> Callable[[], float]:
    """How many times were taken of a step since now."""

    def read() -> float:
        name = f"horde_{step}_duration_seconds_count"
        return REGISTRY.get_sample_value(name, {"gentype": "text", **labels}) or 0.0

    before = read()
    return lambda: read() - before


async def test_a_pop_is_timed_with_its_steps_and_the_look_by_what_it_found(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    steps = {step: counting(step) for step in (*STEPS_OF_A_POP, "pop_start_generation")}
    match, no_match = (counting("pop_eval_loop", outcome=outcome) for outcome in ("match", "no_match"))
    await pops.pop(owner)
    assert {step: counted() for step, counted in steps.items()} == {
        **dict.fromkeys(STEPS_OF_A_POP, 1),
        "pop_start_generation": 0,
    }
    assert (match(), no_match()) == (0, 1)
    await pops.world.text(owner)
    await pops.pop(owner)
    assert [counted() for counted in steps.values()] == [2, 2, 2, 2, 1]
    assert (match(), no_match()) == (1, 1)


async def test_a_refused_pop_is_timed_as_far_as_it_came(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    whole, look = counting("pop"), counting("pop_eval_loop", outcome="no_match")
    await pops.refused(replace(owner, api_key="nobody's"))
    assert (whole(), look()) == (1, 0)


async def test_a_submit_is_timed_with_its_steps_and_what_it_earned_is_kept(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.world.text(owner)
    generation = (await pops.pop(owner)).generation_ids[0]
    steps = [counting(f"submit{step}") for step in ("", "_get_progen", "_state_handling", "_commit")]
    earned = REGISTRY.get_sample_value("horde_submit_kudos_sum", {"gentype": "text"}) or 0.0
    call = pops.caller.once(pops.stub.SubmitResult, deadline=_DEADLINE)
    request = pb.SubmitResultRequest(
        caller=Caller(api_key=owner.api_key), generation_id=generation, state="ok", generation="text"
    )
    answer = await call(request)
    assert [counted() for counted in steps] == [1, 1, 1, 1]
    now = REGISTRY.get_sample_value("horde_submit_kudos_sum", {"gentype": "text"}) or 0.0
    assert now - earned == pytest.approx(answer.reward_hundredths / 100)
    with pytest.raises(Refusal):
        await call(request)  # a repeat is read and refused, and stores nothing
    assert [counted() for counted in steps] == [2, 2, 1, 1]


async def test_a_fault_is_timed_as_a_submit(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.world.text(owner)
    generation = (await pops.pop(owner)).generation_ids[0]
    steps = [counting(f"submit{step}") for step in ("", "_get_progen", "_commit")]
    call = pops.caller.once(pops.stub.SubmitFault, deadline=_DEADLINE)
    await call(pb.SubmitFaultRequest(caller=Caller(api_key=owner.api_key), generation_id=generation))
    assert [counted() for counted in steps] == [1, 1, 0]


async def test_asking_for_a_workers_address_is_timed_by_whether_it_was_remembered(pops: Pops) -> None:
    def read(cached: str) -> float:
        name = "horde_countermeasures_ip_check_duration_seconds_count"
        return REGISTRY.get_sample_value(name, {"cached": cached}) or 0.0

    owner = await pops.world.account("owner", 1)
    before = read("false"), read("true")
    for _ in range(3):
        await pops.pop(owner)
    assert (read("false") - before[0], read("true") - before[1]) == (1, 2)
