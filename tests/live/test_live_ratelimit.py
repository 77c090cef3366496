"""Rate limits on a real Redis, and without one."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from horde.live import Live
from horde.ratelimit import RateLimiter
from horde.ratelimit.limiter import WINDOW
from horde.settings import RedisSettings
from tests.fakes.fault_proxy import FaultProxy


@asynccontextmanager
async def _redis(url: str) -> AsyncIterator[Redis]:
    """The Redis of the test itself."""
    async with Live.open(RedisSettings(redis_url=url)) as live:
        yield live.redis


def measured(name: str) -> float:
    """What a metric says now."""
    return REGISTRY.get_sample_value(name) or 0.0


async def test_the_call_after_the_limit_is_refused_until_the_window_ends(redis_url: str) -> None:
    async with RateLimiter.open(redis_url) as limiter:
        verdicts = [await limiter.hit("2/minute", "10.0.0.1", "/pop") for _ in range(3)]
        assert [verdict.allowed for verdict in verdicts] == [True, True, False]
        assert [verdict.remaining for verdict in verdicts] == [1, 0, 0]
        assert verdicts[0].limit == "2 per 1 minute"
        assert 0 < verdicts[2].reset_at - time.time() <= 60
        async with _redis(redis_url) as redis:
            await redis.pexpire(WINDOW(window="2-60", subject="10.0.0.1//pop"), 1)
        await asyncio.sleep(0.05)
        assert (await limiter.hit("2/minute", "10.0.0.1", "/pop")).allowed


async def test_each_key_and_each_limit_counts_for_itself(redis_url: str) -> None:
    async with RateLimiter.open(redis_url) as limiter:
        both = [("1/minute", ("a", "b")), ("3/hour", ("a", "b"))]
        assert [verdict.allowed for verdict in await limiter.hit_all(both)] == [True, True]
        assert [verdict.allowed for verdict in await limiter.hit_all(both)] == [False, True]
        assert (await limiter.hit("1/minute", "a", "c")).allowed


async def test_two_gateways_share_a_window(redis_url: str) -> None:
    async with RateLimiter.open(redis_url) as one, RateLimiter.open(redis_url) as other:
        assert (await one.hit("1/minute", "a")).allowed
        assert not (await other.hit("1/minute", "a")).allowed


async def test_a_window_has_an_end_even_if_its_key_lost_it(redis_url: str) -> None:
    key = WINDOW(window="5-60", subject="a")
    async with RateLimiter.open(redis_url) as limiter, _redis(redis_url) as redis:
        await limiter.hit("5/minute", "a")
        assert await redis.persist(key)
        verdict = await limiter.hit("5/minute", "a")
        assert verdict.remaining == 3
        assert 0 < verdict.reset_at - time.time() <= 60
        assert 0 < await redis.ttl(key) <= 60


async def test_without_redis_it_counts_alone_and_does_not_wait_again(redis_url: str) -> None:
    async with FaultProxy.before(redis_url) as proxy, RateLimiter.open(proxy.url(redis_url)) as limiter:
        await limiter.hit("2/minute", "a")
        assert measured("horde_ratelimit_alone") == 0
        counted = measured("horde_ratelimit_fallbacks_total")
        proxy.blackhole = True
        first = await limiter.hit("2/minute", "a")
        proxy.blackhole = False  # whoever asked Redis again now would be answered
        rest = [await limiter.hit("2/minute", "a") for _ in range(2)]
        assert [first.allowed, *(verdict.allowed for verdict in rest)] == [True, True, False]
        assert measured("horde_ratelimit_alone") == 1
        assert measured("horde_ratelimit_fallbacks_total") == counted + 3


async def test_a_limiter_that_is_off_allows_everything() -> None:
    async with RateLimiter.open("redis://127.0.0.1:1/0", enabled=False) as limiter:
        assert all([(await limiter.hit("1/minute", "a")).allowed for _ in range(5)])


@pytest.mark.parametrize("limit", ["", "often", "2/fortnight"])
async def test_a_limit_nobody_understands_is_refused(limit: str) -> None:
    async with RateLimiter.open("redis://127.0.0.1:1/0", enabled=False) as limiter:
        with pytest.raises(ValueError, match=r"parse|granularity"):
            await limiter.hit(limit, "a")
