"""Thousands of watchers in one process: few connections, late ones replay, slow ones are bounded, none leaks."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any

from horde_pb.progress.v1 import progress_service_pb2 as pb
from services.progress.live.keys import SIGNALS, STREAM, WAKE
from services.progress.rules.feed import Event, Piece, Signal, Subscribed, write_signal
from tests.fakes.progress_service import Progress, serving

MOST = 5_000
MOST_CONNECTIONS = 16
TESTS_OWN_CONNECTIONS = 2  # the one that looks, and the one that emptied the server before the test

type Watched = AsyncGenerator[Event, None]


def said(event: Event) -> str:
    match event:
        case Subscribed():
            return "+"
        case Piece():
            return event.content
        case Signal():
            return f"!{event.event}"
    return "ended"


async def post(progress: Progress, request_ids: Sequence[str], seq: int) -> None:
    """What a post's script does at its end, for many requests in few round trips."""
    for start in range(0, len(request_ids), 500):
        async with progress.redis.pipeline(transaction=False) as together:
            for one in request_ids[start : start + 500]:
                together.xadd(STREAM(request=one), {"gen": one, "seq": seq, "content": f"{seq} {one}"})
                together.publish(WAKE(request=one), "")
            await together.execute()


async def next_of_all(watched: Sequence[Watched]) -> list[str]:
    """The next event of each, which all of them wait for side by side."""
    return [said(event) for event in await asyncio.gather(*(anext(events) for events in watched))]


async def test_five_thousand_watchers_share_a_handful_of_connections(redis_url: str) -> None:
    request_ids = [str(uuid.uuid4()) for _ in range(MOST)]
    async with serving(redis_url, pool_size=MOST_CONNECTIONS - 2) as progress, asyncio.timeout(50):
        await post(progress, request_ids[:100], 1)
        async with AsyncExitStack() as leaving:
            watched: list[Watched] = []
            for one in request_ids:
                watch = leaving.enter_context(progress.watching.watch(one))
                watched.append(await leaving.enter_async_context(aclosing(watch.events())))
            assert set(await next_of_all(watched)) == {"+"}
            # the first hundred came late and are told what stood there before them
            assert await next_of_all(watched[:100]) == [f"1 {one}" for one in request_ids[:100]]
            hearing = asyncio.create_task(next_of_all(watched))
            await post(progress, request_ids, 2)
            assert await hearing == [f"2 {one}" for one in request_ids]
            found = await progress.redis.client_list()
            assert len(found) - TESTS_OWN_CONNECTIONS <= MOST_CONNECTIONS
            # half of them vanish; the others hear on
            async with progress.redis.pipeline(transaction=False) as together:
                for one in request_ids[MOST // 2 :]:
                    together.publish(SIGNALS(request=one), write_signal(one, Signal("done", 1)))
                await together.execute()
            assert set(await next_of_all(watched[MOST // 2 :])) == {"!done"}
        assert progress.watching._watches == {}
        channels = progress.redis.pubsub_channels
        while await channels("horde:*:*") != [b"horde:progress:hold"]:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.02)
        assert (progress.watching._asked, progress.watching._unconfirmed) == (set(), {})


async def test_a_reader_that_does_not_read_leaves_its_entries_on_the_stream(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    call: Any = progress.stub.WatchRequest(pb.WatchRequestRequest(request_id=request_id))
    events = aiter(call)
    assert (await anext(events)).WhichOneof("event") == "subscribed"
    content = "x" * 50_000
    async with progress.redis.pipeline(transaction=False) as together:
        for seq in range(1, 801):
            together.xadd(STREAM(request=request_id), {"gen": request_id, "seq": seq, "content": content})
        together.publish(WAKE(request=request_id), "")
        *_, last, _ = await together.execute()
    # what fits between the two is taken at once, and no more
    (watch,) = progress.watching._watches[request_id]
    before = b""
    while watch._last != before or before == b"0":
        before = watch._last
        await asyncio.sleep(0.2)
    assert watch._last < last
    async with asyncio.timeout(30):
        assert [(await anext(events)).delta.seq for _ in range(800)] == list(range(1, 801))
    call.cancel()
