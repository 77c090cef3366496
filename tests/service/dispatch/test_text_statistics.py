"""What was made by period, base-domain 9: from the endings of 5.6, folded each minute as 10.2 says."""

import asyncio
from datetime import timedelta

from horde_pb.dispatch.v1 import statistics_pb2 as pb
from horde_pb.dispatch.v1.statistics_pb2_grpc import StatisticsServiceStub
from services.dispatch.loops.compile_text_stats import compile_text_stats
from tests.fakes.dispatch_service import Dispatch

_DEADLINE = timedelta(seconds=20)


async def ended(dispatch: Dispatch, model: str, ago: timedelta, *, length: int = 100, state: str = "OK") -> None:
    """A generation that ended so long ago."""
    await dispatch.scene.db.execute(
        "INSERT INTO dispatch.text_gen_stats"
        " (started, finished, model, max_length, max_context_length, prompt_length, state)"
        " VALUES ($1, $1, $2, $3, 2048, 1, $4)",
        dispatch.clock.now() - ago,
        model,
        length,
        state,
    )


async def told(dispatch: Dispatch) -> tuple[list[int], dict[str, tuple[int, int, int]]]:
    """Requests of the five periods, and of each model in the day, the month and ever."""
    dispatch.clock.advance(timedelta(seconds=2))  # a sum is remembered for a second
    stub = StatisticsServiceStub(dispatch.caller.channel)
    ask = dispatch.caller.once(stub.GetTextStatistics, deadline=_DEADLINE)
    answer: pb.GetTextStatisticsResponse = await ask(pb.GetTextStatisticsRequest())
    periods = [answer.minute, answer.hour, answer.day, answer.month, answer.total]
    assert all(period.tokens == 100 * period.requests for period in periods)
    return [period.requests for period in periods], {m.model: (m.day, m.month, m.total) for m in answer.models}


AGES = (
    timedelta(seconds=20),
    timedelta(minutes=30),
    timedelta(hours=20),
    timedelta(days=20),
    timedelta(days=50),
)


async def test_replies_count_in_each_period_that_they_ended_in_folded_or_not(dispatch: Dispatch) -> None:
    assert await told(dispatch) == ([0] * 5, {})
    for age in AGES:
        await ended(dispatch, "org/a", age)
    await ended(dispatch, "b", timedelta(minutes=30))
    await ended(dispatch, "b", timedelta(minutes=30), state="FAULTED")
    expected = ([1, 3, 4, 5, 6], {"org/a": (3, 4, 5), "b": (1, 1, 1)})
    assert await told(dispatch) == expected
    await asyncio.gather(*(compile_text_stats(dispatch.deps) for _ in range(3)))
    assert await told(dispatch) == expected
    dispatch.clock.advance(timedelta(minutes=3))
    await compile_text_stats(dispatch.deps)
    assert await told(dispatch) == ([0, 3, 4, 5, 6], expected[1])
    dispatch.clock.advance(timedelta(days=40))
    await ended(dispatch, "b", timedelta())
    await compile_text_stats(dispatch.deps)
    assert await told(dispatch) == ([1, 1, 1, 1, 7], {"org/a": (0, 0, 5), "b": (1, 1, 2)})


async def test_sums_by_period_are_kept_for_a_month_and_the_total_for_good(dispatch: Dispatch) -> None:
    for age in AGES:
        await ended(dispatch, "a", age)
    dispatch.clock.advance(timedelta(days=32))
    await compile_text_stats(dispatch.deps)
    scene = dispatch.scene
    for table in ("compiled_text_gen_stats_totals", "compiled_text_gen_stats_models"):
        assert await scene.db.fetchval(f"SELECT count(*) FROM dispatch.{table}") == 0  # noqa: S608 - our own names
    assert (await told(dispatch))[0] == [0, 0, 0, 0, 5]


async def test_a_stored_reply_is_a_request_with_the_tokens_it_was_allowed(dispatch: Dispatch) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    worker = await scene.worker(owner)
    await dispatch.reply(await scene.generation(await scene.request(owner, max_length=100), worker), owner)
    assert (await told(dispatch))[0] == [1] * 5
