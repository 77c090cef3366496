"""An answer kept for a moment."""

import asyncio
from datetime import timedelta

import pytest

from services.gateway.fresh import Fresh
from tests.fakes.clock import FakeClock


async def test_an_answer_is_asked_again_only_when_it_is_old() -> None:
    clock, asked = FakeClock(), []

    async def ask() -> int:
        asked.append(1)
        return len(asked)

    kept = Fresh(ask, 2.0, clock)
    assert [await kept.get(), await kept.get()] == [1, 1]
    clock.advance(timedelta(seconds=2))
    assert await kept.get() == 2


async def test_many_callers_ask_once_and_one_that_leaves_takes_nothing_away() -> None:
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    asked = []

    async def ask() -> int:
        asked.append(1)
        return await answer

    kept = Fresh(ask, 2.0, FakeClock())
    callers = [asyncio.create_task(kept.get()) for _ in range(3)]
    await asyncio.sleep(0)
    callers[0].cancel()
    await asyncio.sleep(0)
    answer.set_result(5)
    assert await asyncio.gather(*callers[1:]) == [5, 5]
    assert len(asked) == 1


async def test_a_failure_is_not_kept() -> None:
    answers: list[int | Exception] = [ValueError("no"), 7]

    async def ask() -> int:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    kept = Fresh(ask, 2.0, FakeClock())
    with pytest.raises(ValueError, match="no"):
        await kept.get()
    assert await kept.get() == 7


async def test_what_was_forgotten_is_asked_anew_and_an_older_question_leaves_nothing_behind() -> None:
    answers: list[asyncio.Future[int]] = [asyncio.get_running_loop().create_future() for _ in range(3)]
    left = iter(answers)
    kept = Fresh(lambda: next(left), 2.0, FakeClock())
    early = asyncio.create_task(kept.get())
    await asyncio.sleep(0)
    kept.forget()
    late = asyncio.create_task(kept.get())
    await asyncio.sleep(0)
    answers[1].set_result(2)
    assert await late == 2
    answers[0].set_result(1)
    assert await early == 1
    assert await kept.get() == 2
