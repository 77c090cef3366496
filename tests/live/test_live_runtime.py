"""The Redis runtime on a real server: scripts, resets, restarts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from horde.live import Live, LiveUnavailable, Script, ScriptHeaderError
from horde.settings import RedisSettings
from tests.fakes.fault_proxy import FaultProxy
from tests.servers import Restartable

ADD = """-- add: adds to a counter.
--
-- KEYS[1]   horde:test:{id}  string
-- ARGV[1]   amount           what is added
-- ARGV[2..] more             further amounts
-- returns   the sum
local sum = redis.call("INCRBY", KEYS[1], ARGV[1])
for index = 2, #ARGV do sum = redis.call("INCRBY", KEYS[1], ARGV[index]) end
return sum
"""


@asynccontextmanager
async def opened(url: str, timeout_seconds: float = 1.0) -> AsyncIterator[Live]:
    async with Live.open(RedisSettings(redis_url=url, redis_timeout_seconds=timeout_seconds)) as live:
        yield live


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with a folder of scripts."""
    scripts = tmp_path / "package_of_scripts" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "add.lua").write_text(ADD)
    (scripts / "gap.lua").write_text("-- ARGV[2]  x  no first one\nreturn 1")
    (scripts / "undeclared.lua").write_text("-- KEYS[1]  x  string\nreturn redis.call('GET', KEYS[2]) -- KEYS[3]")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "package_of_scripts"


async def test_a_script_runs_and_runs_again_after_redis_forgot_it(redis_url: str, package: str) -> None:
    async with opened(redis_url) as live:
        add = Script(live, package, "add")
        assert await add(keys=["k"], args=[2]) == 2
        await live.redis.script_flush()
        assert await add(keys=["k"], args=[3, 4]) == 9


async def test_a_call_that_does_not_fit_the_header_is_refused(redis_url: str, package: str) -> None:
    async with opened(redis_url) as live:
        add = Script(live, package, "add")
        with pytest.raises(TypeError, match="takes 1 keys, not 2"):
            await add(keys=["k", "l"], args=[1])
        with pytest.raises(TypeError, match="takes 1 arguments or more, not 0"):
            await add(keys=["k"])


async def test_a_header_that_does_not_fit_its_script_is_refused(redis_url: str, package: str) -> None:
    async with opened(redis_url) as live:
        with pytest.raises(ScriptHeaderError, match="counts ARGV as"):
            Script(live, package, "gap")
        with pytest.raises(ScriptHeaderError, match=r"KEYS\[2\] is used but not declared"):
            Script(live, package, "undeclared")


async def test_idle_connections_that_were_reset_are_replaced_unseen(redis_url: str, package: str) -> None:
    async with FaultProxy.before(redis_url) as proxy, opened(proxy.url(redis_url)) as live:
        add = Script(live, package, "add")
        await asyncio.gather(*(live.ping() for _ in range(4)))
        proxy.reset_all()
        await asyncio.sleep(0.05)
        assert await add(keys=["k"], args=[1]) == 1
        proxy.reset_all()
        await live.ping()


async def test_a_redis_that_hangs_is_an_outage_after_the_time_out(redis_url: str, package: str) -> None:
    async with FaultProxy.before(redis_url) as proxy, opened(proxy.url(redis_url), 1.0) as live:
        add = Script(live, package, "add")
        await add(keys=["k"], args=[1])
        proxy.blackhole = True
        started = asyncio.get_running_loop().time()
        with pytest.raises(LiveUnavailable):
            await add(keys=["k"], args=[1])
        assert asyncio.get_running_loop().time() - started < 10
        proxy.blackhole = False
        await live.ping()


async def test_redis_may_be_killed_and_come_back(restartable_redis: Restartable, package: str) -> None:
    async with opened(restartable_redis.url) as live:
        add = Script(live, package, "add")
        await add(keys=["k"], args=[1])
        await asyncio.to_thread(restartable_redis.kill)
        with pytest.raises(LiveUnavailable):
            await add(keys=["k"], args=[1])
        with pytest.raises(LiveUnavailable), live.guard("GET") as redis:
            await redis.get("k")
        await asyncio.to_thread(restartable_redis.start)
        assert await add(keys=["k"], args=[1]) == 2


async def test_a_redis_that_is_full_is_an_outage_for_what_writes(restartable_redis: Restartable, package: str) -> None:
    async with opened(restartable_redis.url) as live:
        add = Script(live, package, "add")
        await live.redis.config_set("maxmemory", 1)
        with pytest.raises(LiveUnavailable):
            await add(keys=["k"], args=[1])
        with pytest.raises(LiveUnavailable), live.guard("SET") as redis:
            await redis.set("k", 1)
        with live.guard("GET") as redis:
            assert await redis.get("k") is None


async def test_a_redis_without_the_replicas_that_it_must_have_is_an_outage_for_what_writes(
    restartable_redis: Restartable, package: str
) -> None:
    async with opened(restartable_redis.url) as live:
        await live.redis.config_set("min-replicas-to-write", 1)
        with pytest.raises(LiveUnavailable):
            await Script(live, package, "add")(keys=["k"], args=[1])


async def test_live_opens_while_redis_is_away() -> None:
    async with opened("redis://127.0.0.1:1/0") as live:
        with pytest.raises(LiveUnavailable):
            await live.ping()
