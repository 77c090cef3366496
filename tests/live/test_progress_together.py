"""Commands of many callers share round trips and nothing else: not their errors, not their callers' fates."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ResponseError

from horde.live import Live, LiveUnavailable
from horde.settings import RedisSettings
from services.progress.live.together import LONGEST_BATCH, Together
from tests.servers import Restartable


@pytest.fixture
async def live(redis_url: str) -> AsyncIterator[Live]:
    async with Live.open(RedisSettings(redis_url=redis_url)) as live:
        yield live


async def test_every_caller_gets_the_answer_to_its_own_command(live: Live) -> None:
    together = Together(live)
    count = 3 * LONGEST_BATCH + 1
    assert await asyncio.gather(*(together.ask("ECHO", str(n)) for n in range(count))) == [
        str(n).encode() for n in range(count)
    ]


async def test_an_error_of_one_command_is_told_to_its_caller_only(live: Live) -> None:
    together = Together(live)
    commands = (("ECHO", "a"), ("INCR",), ("ECHO", "b"))
    answers = await asyncio.gather(*(together.ask(*words) for words in commands), return_exceptions=True)
    assert answers[::2] == [b"a", b"b"]
    assert isinstance(answers[1], ResponseError)


async def test_a_caller_that_goes_away_takes_nobody_with_it(live: Live) -> None:
    together = Together(live)
    leaving = asyncio.create_task(together.ask("ECHO", "a"))
    staying = asyncio.create_task(together.ask("ECHO", "b"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == b"b"


async def test_an_outage_is_told_to_everybody_and_is_over_when_it_is_over(restartable_redis: Restartable) -> None:
    async with Live.open(RedisSettings(redis_url=restartable_redis.url)) as live:
        together = Together(live)
        assert await together.ask("ECHO", "a") == b"a"
        await asyncio.to_thread(restartable_redis.kill)
        outcomes = await asyncio.gather(*(together.ask("ECHO", "b") for _ in range(3)), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [LiveUnavailable] * 3
        await asyncio.to_thread(restartable_redis.start)
        assert await together.ask("ECHO", "c") == b"c"
