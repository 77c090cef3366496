"""Each Lua file of progress on a real Valkey: every outcome its header names, repeats, and callers at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from horde.live import Key, Live, Script
from horde.settings import RedisSettings
from services.progress.live import keys

LEASE, STREAM = "horde:chat:lease:g", "horde:chat:stream:r"


@pytest.fixture
async def live(redis_url: str) -> AsyncIterator[Live]:
    async with Live.open(RedisSettings(redis_url=redis_url)) as live:
        yield live


def redis_of(live: Live) -> Any:
    """redis-py's own types cannot say what it answers in bytes."""
    return live.redis


async def opened(live: Live, **changed: object) -> None:
    written: dict[str, object] = {"request": "r", "worker": "w", "model": "m", "owner": 1, "key": "k", "max_bytes": 100}
    written |= {"fake": 0, "started": 1000.0, "job_ttl": 150, "lease_cap": 200, "trusted": 1, **changed}
    script = Script(live, "services.progress", "open_lease")
    await script(keys=[LEASE], args=[240_000, *[str(part) for pair in written.items() for part in pair]])


async def posted(live: Live, seq: int, content: str = "x", *, key: str = "k", now: float = 1000.0) -> list[Any]:
    script = Script(live, "services.progress", "append_progress")
    prefixes = ("horde:chat:stream:", 900, 4000, "horde:progress:wake:")
    answer: list[Any] = await script(keys=[LEASE], args=[key, "g", seq, content, "", now, 150, 90, 1000, *prefixes])
    return answer


async def test_append_progress_has_every_outcome_of_its_header(live: Live) -> None:
    assert await posted(live, 1) == [b"absent"]
    await opened(live)
    assert await posted(live, 1, key="other") == [b"wrong_key"]
    assert await posted(live, 2) == [b"out_of_sequence", 1]
    assert await posted(live, 1) == [b"appended", 1, 0, b"none", 150, 1]
    assert await posted(live, 1) == [b"repeated", 1, 0]
    assert await posted(live, 1, "y") == [b"out_of_sequence", 2]
    assert await posted(live, 2, "x" * 100) == [b"capped"]
    assert await posted(live, 2, now=1020.5) == [b"appended", 2, 0, b"granted", 171, 1]
    assert await posted(live, 3, now=1080.0) == [b"appended", 3, 0, b"granted", 200, 1]
    assert await posted(live, 4, now=1081.0) == [b"appended", 4, 0, b"at_cap", 200, 1]
    assert await posted(live, 5, now=1200.001) == [b"appended", 5, 0, b"none", 200, 1]


async def test_a_whole_number_of_seconds_is_not_rounded_up_by_the_dust_of_floating_point(live: Live) -> None:
    await opened(live, started=1764504000.123)
    assert (await posted(live, 1, now=1764504010.123))[3:5] == [b"granted", 160]


async def test_a_post_at_the_very_end_of_the_lease_is_in_time(live: Live) -> None:
    await opened(live)
    assert (await posted(live, 1, now=1150.0))[3:5] == [b"granted", 200]


async def test_the_stream_is_trimmed_and_expires(live: Live) -> None:
    await opened(live)
    await posted(live, 1)
    assert 0 < await redis_of(live).ttl(STREAM) <= 900


async def test_of_many_callers_at_once_one_appends_and_the_others_repeat(live: Live) -> None:
    await opened(live)
    answers = await asyncio.gather(*(posted(live, 1) for _ in range(64)))
    assert sorted(answer[0] for answer in answers) == [b"appended", *[b"repeated"] * 63]
    assert await redis_of(live).xlen(STREAM) == 1


async def test_close_lease_ends_a_faulted_generation_once(live: Live) -> None:
    script = Script(live, "services.progress", "close_lease")
    await opened(live)
    closing: dict[str, Any] = {"keys": [LEASE, STREAM], "args": [1, "g", 900, 4000, "wake"]}
    assert [await script(**closing), await script(**closing)] == [1, 0]
    assert [fields for _, fields in await redis_of(live).xrange(STREAM)] == [{b"gen": b"g", b"ended": b"1"}]


async def test_close_lease_after_a_cancel_ends_nothing_a_second_time(live: Live) -> None:
    await opened(live)
    cancelling = Script(live, "services.progress", "cancel_leases")
    assert await cancelling(keys=[STREAM, LEASE], args=[900, 4000, "wake", "g"]) == 1
    closing = Script(live, "services.progress", "close_lease")
    assert await closing(keys=[LEASE, STREAM], args=[1, "g", 900, 4000, "wake"]) == 1
    assert await redis_of(live).xlen(STREAM) == 1


async def test_cancel_leases_counts_what_it_flagged_and_makes_no_lease(live: Live) -> None:
    script = Script(live, "services.progress", "cancel_leases")
    await opened(live)
    cancelling: dict[str, Any] = {
        "keys": [STREAM, "horde:chat:lease:none", LEASE],
        "args": [900, 4000, "wake", "none", "g"],
    }
    assert [await script(**cancelling), await script(**cancelling)] == [1, 0]
    assert await redis_of(live).exists("horde:chat:lease:none") == 0
    assert (await posted(live, 1))[:3] == [b"appended", 1, 1]


async def test_the_keys_have_the_names_that_others_rely_on() -> None:
    names = {keys.LEASE(generation="g"), keys.STREAM(request="r"), keys.SIGNALS(request="r")}
    assert names == {LEASE, STREAM, "horde:chat:r"}
    assert {keys.LEASE, keys.STREAM, keys.SIGNALS, keys.WAKE} <= set(Key.all())
