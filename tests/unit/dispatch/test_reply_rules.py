"""Who may hand a job in, what it is worth, and when a request is done."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract import pricing, reasons
from horde.contract.models import ModelReference
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.dispatch.memory import Memory
from services.dispatch.rules import submission
from services.dispatch.rules.completion import Tally
from services.dispatch.rules.submission import Target, Work

TARGET = Target(
    id=uuid4(),
    request_id=uuid4(),
    model="a model",
    start_time=datetime(2026, 11, 30, tzinfo=UTC),
    job_ttl=173,
    worker_trusted=False,
    streamed=False,
    fake=False,
    faulted=False,
    finished=False,
    assigned_model="a model",
    over_capacity=False,
    is_chat=True,
    max_length=512,
    prompt_characters=2048,
    extras={},
    strict=True,
    targeted=False,
    webhook=None,
    worker_id=uuid4(),
    worker_name="a worker",
    owner_id=7,
    bridge_agent="agent:1:url",
    validated_backend=True,
    maintenance=False,
    caller_id=7,
    caller_trusted=True,
)
WORK = Work(
    model="a model",
    reply_characters=2048,
    prompt_characters=2048,
    max_length=512,
    validated_backend=True,
    owner_trusted=True,
    targeted=False,
)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (None, reasons.INVALID_JOB_ID),
        (replace(TARGET, caller_id=None), reasons.INVALID_API_KEY),
        (replace(TARGET, caller_id=0), reasons.WRONG_CREDENTIALS),
    ],
)
def test_a_job_is_handed_in_by_its_workers_owner_alone(target: Target | None, reason: Reason) -> None:
    with pytest.raises(Refusal) as refused:
        submission.owned(target)
    assert refused.value.reason is reason
    assert submission.owned(TARGET) is TARGET


def test_a_late_reply_is_told_the_lease_it_had() -> None:
    assert "173 seconds" in submission.aborted(TARGET).message


def test_a_13b_model_earns_what_the_reference_example_says() -> None:
    reference = ModelReference({"a model": {"parameters": 13_000_000_000}})
    # 512 * 1 * 13 / 125 * 1.655: base-domain 6.1
    assert submission.pay(WORK, reference).reward == pytest.approx(8810, abs=10)
    assert submission.pay(WORK, reference).charge == submission.pay(WORK, reference).reward
    censored = submission.pay(WORK, reference, censored=True)
    assert (censored.charge, censored.burn) == (0, pricing.BURN)
    assert censored.reward == submission.pay(WORK, reference).reward
    assert submission.pay(replace(WORK, targeted=True), reference).reward == 10


@pytest.mark.parametrize(("seconds", "speed"), [(0.0, 100.0), (0.2, 100.0), (1.0, 100.0), (3.0, 33.3), (-5.0, 100.0)])
def test_less_than_a_second_counts_as_one(seconds: float, speed: float) -> None:
    assert submission.speed(100, seconds) == speed


A_TALLY = Tally(n=0, jobs=1, processing=0, finished=1, restarted=0, faulted=False, cancelled=False)


@pytest.mark.parametrize(
    ("tally", "is_done"),
    [
        (A_TALLY, True),
        (replace(A_TALLY, finished=0, n=1), False),
        (replace(A_TALLY, finished=0, processing=1), False),
        (replace(A_TALLY, finished=0, restarted=1), False),
        (replace(A_TALLY, finished=0, cancelled=True), True),
        (replace(A_TALLY, finished=0, cancelled=True, processing=1), False),
        (replace(A_TALLY, finished=0, n=1, processing=1, faulted=True), True),
    ],
)
def test_a_request_is_done_when_nothing_more_can_come(tally: Tally, is_done: bool) -> None:
    assert tally.is_done is is_done


@given(st.tuples(*[st.integers(0, 20)] * 4))
def test_what_is_shown_as_waiting_fits_the_jobs_asked_for(numbers: tuple[int, ...]) -> None:
    n, jobs, processing, finished = numbers
    tally = Tally(n, jobs, processing, finished, restarted=0, faulted=False, cancelled=False)
    assert 0 <= tally.waiting <= n
    assert tally.waiting + processing + finished <= max(jobs, processing + finished)


def test_a_memory_forgets_in_time_and_under_pressure() -> None:
    memory = Memory(capacity=2)
    memory.put("a", 1, 5.0, now=100.0)
    assert (memory.get("a", now=104.9), memory.get("a", now=105.0)) == (1, None)
    for key in "bc":
        memory.put(key, key, 5.0, now=100.0)
    assert [memory.get(key, now=100.0) for key in "abc"] == [None, "b", "c"]


async def test_a_question_is_asked_once_for_all_who_wait_for_it() -> None:
    memory = Memory()
    asked: list[int] = []

    async def ask() -> int:
        asked.append(1)
        await asyncio.sleep(0.02)
        return len(asked)

    first = asyncio.create_task(memory.ask_once("a", ask))
    others = [asyncio.create_task(memory.ask_once("a", ask)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    assert await asyncio.gather(*others) == [1, 1, 1]
    assert await memory.ask_once("a", ask) == 2
