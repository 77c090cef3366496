"""The set of owed deletes, on a real Redis."""

from collections.abc import AsyncIterator

import pytest

from horde.live import Live, Script
from horde.settings import RedisSettings
from services.media.live import DELETE_RETRY, DeleteQueue


@pytest.fixture
async def live(redis_url: str) -> AsyncIterator[Live]:
    async with Live.open(RedisSettings(redis_url=redis_url)) as opened:
        yield opened


async def test_keys_stay_queued_until_they_are_done(live: Live) -> None:
    queue = DeleteQueue(live)
    assert await queue.add(["a", "b", "a"]) == []
    assert sorted(await queue.some(1000)) == ["a", "b"]
    assert len(await queue.some(1)) == 1
    await queue.done(["a"])
    assert (await queue.some(1000), await queue.size()) == (["b"], 1)
    await queue.done([])
    assert await queue.add([]) == []
    assert await live.redis.ttl(DELETE_RETRY()) == -1


async def test_past_the_bound_keys_are_given_back_and_known_ones_are_not(live: Live) -> None:
    queue = Script(live, "services.media", "queue_deletes")
    assert await queue(keys=["set"], args=[2, "a", "b", "c"]) == [b"c"]
    assert await queue(keys=["set"], args=[2, "b", "d"]) == [b"d"]
    assert await live.redis.smembers("set") == {b"a", b"b"}
