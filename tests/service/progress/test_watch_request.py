"""WatchRequest and PublishEvents: replay, order, many watchers, outages, and nothing left behind."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest

from horde.contract import reasons
from horde.rpc.client import NeighbourUnavailable
from horde_pb.progress.v1 import progress_service_pb2 as pb
from tests.fakes.progress_service import Progress, a_lease, a_post, request_of, serving
from tests.servers import Restartable


class Reader:
    """One watcher, read step by step."""

    def __init__(self, progress: Progress, request_id: str) -> None:
        self.call: Any = progress.stub.WatchRequest(pb.WatchRequestRequest(request_id=request_id))
        self._events: AsyncIterator[pb.WatchRequestResponse] = aiter(self.call)

    async def next(self, seconds: float = 5.0) -> str:
        """The next event in short: `+`, the text of a delta, `ended` or the signal's event."""
        async with asyncio.timeout(seconds):
            event = await anext(self._events)
        match event.WhichOneof("event"):
            case "subscribed":
                return "+"
            case "delta":
                return event.delta.content
            case "signal":
                return f"!{event.signal.event}"
        return "ended"


async def publish(progress: Progress, request_id: str, *events: str) -> None:
    signals = [pb.Signal(event=event, generations=1) for event in events]
    await progress.stub.PublishEvents(pb.PublishEventsRequest(request_id=request_id, signals=signals))


async def test_a_late_reader_gets_everything_from_the_start_and_then_what_comes(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    for seq in (1, 2):
        await progress.stub.AppendProgress(a_post(lease, seq, f"old {seq}"))
    reader = Reader(progress, lease.request_id)
    assert [await reader.next() for _ in range(3)] == ["+", "old 1", "old 2"]
    await progress.stub.AppendProgress(a_post(lease, 3, "new 3"))
    assert await reader.next() == "new 3"
    await progress.stub.CancelLeases(request_of(lease))
    assert await reader.next() == "ended"
    await publish(progress, lease.request_id, "generation", "done")
    assert [await reader.next(), await reader.next()] == ["!generation", "!done"]
    reader.call.cancel()


async def test_a_delta_carries_what_the_front_needs_of_it(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "", reasoning_content="why"))
    call: Any = progress.stub.WatchRequest(pb.WatchRequestRequest(request_id=lease.request_id))
    events = aiter(call)
    await anext(events)
    assert (await anext(events)).delta == pb.Delta(
        generation_id=lease.generation_id, seq=1, reasoning_content="why", worker_id=lease.worker_id, model="a model"
    )
    call.cancel()


async def test_what_was_posted_before_a_signal_is_told_before_it(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    reader = Reader(progress, lease.request_id)
    assert await reader.next() == "+"
    for seq in range(1, 251):
        await progress.stub.AppendProgress(a_post(lease, seq, str(seq)))
    await publish(progress, lease.request_id, "done")
    assert [await reader.next() for _ in range(251)] == [*map(str, range(1, 251)), "!done"]
    reader.call.cancel()


async def test_signals_have_exactly_the_bytes_of_the_reference(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    async with progress.redis.pubsub() as pubsub:
        await pubsub.subscribe(f"horde:chat:{request_id}")
        await pubsub.get_message(timeout=5)
        faulted = pb.Signal(event="faulted", generations=0, fault_reason="Why.", fault_rc="ChatWorkerFault")
        signals = [pb.Signal(event="generation", generations=1), faulted]
        await progress.stub.PublishEvents(pb.PublishEventsRequest(request_id=request_id, signals=signals))
        messages = [await pubsub.get_message(timeout=5) for _ in range(2)]
        assert [json.loads(message["data"]) for message in messages if message] == [
            {"id": request_id, "event": "generation", "generations": 1},
            {
                "id": request_id,
                "event": "faulted",
                "generations": 0,
                "fault_reason": "Why.",
                "fault_rc": "ChatWorkerFault",
            },
        ]
        await pubsub.aclose()


async def test_posts_never_appear_on_the_completion_channel(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    async with progress.redis.pubsub() as pubsub:
        await pubsub.psubscribe("horde:chat:*")
        await pubsub.get_message(timeout=5)
        await progress.stub.AppendProgress(a_post(lease, 1, "x"))
        assert await pubsub.get_message(timeout=0.2) is None
        await pubsub.aclose()


async def test_watchers_that_vanish_leave_nothing_behind(progress: Progress) -> None:
    request_ids = [str(uuid.uuid4()) for _ in range(20)]
    readers = [Reader(progress, one) for one in request_ids for _ in range(2)]
    assert {await reader.next() for reader in readers} == {"+"}
    assert len(progress.watching._watches) == 20
    for reader in readers:
        reader.call.cancel()
    async with asyncio.timeout(5):
        while progress.watching._watches or await progress.redis.pubsub_channels("horde:*:*"):
            left = set(await progress.redis.pubsub_channels("horde:*:*"))
            if left == {b"horde:progress:hold"} and not progress.watching._watches:
                break
            await asyncio.sleep(0.02)
    assert progress.watching._unconfirmed == {}


async def test_a_request_left_and_taken_up_again_at_once_is_still_heard(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    for _ in range(20):
        reader = Reader(progress, request_id)
        assert await reader.next() == "+"
        await publish(progress, request_id, "generation")
        assert await reader.next() == "!generation"
        reader.call.cancel()


async def test_two_hundred_callers_share_a_handful_of_connections(redis_url: str) -> None:
    async with serving(redis_url, pool_size=4) as progress:
        leases = [a_lease() for _ in range(200)]
        readers = [Reader(progress, lease.request_id) for lease in leases]
        assert {await reader.next(30.0) for reader in readers} == {"+"}
        for lease in leases:
            await progress.stub.OpenLease(lease)
            await progress.stub.AppendProgress(a_post(lease, 1, lease.generation_id))
        heard = [await reader.next(30.0) for reader in readers]
        assert heard == [lease.generation_id for lease in leases]
        # The pool, the pub/sub connection, this test's own and one of the fixture that emptied the server.
        assert len(await progress.redis.client_list()) <= 4 + 3
        for reader in readers:
            reader.call.cancel()


async def test_a_watcher_survives_a_restart_of_redis_in_the_middle_of_a_stream(
    restartable_redis: Restartable,
) -> None:
    async with serving(restartable_redis.url) as progress:
        lease = a_lease()
        await progress.stub.OpenLease(lease)
        reader = Reader(progress, lease.request_id)
        assert await reader.next() == "+"
        await progress.stub.AppendProgress(a_post(lease, 1, "before"))
        assert await reader.next() == "before"
        await asyncio.to_thread(restartable_redis.kill)
        refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, 2, "lost")))
        assert refusal.reason is reasons.CHAT_PROGRESS_UNAVAILABLE
        await asyncio.to_thread(restartable_redis.start)
        # The server forgot at most its last second; whatever it remembers, the worker's view is mended by one retry.
        await progress.redis.flushdb()
        await progress.stub.OpenLease(lease)
        await progress.stub.AppendProgress(a_post(lease, 1, "after"))
        assert await reader.next(10.0) == "after"
        await publish(progress, lease.request_id, "done")
        assert await reader.next() == "!done"
        reader.call.cancel()


async def test_without_redis_a_watcher_is_told_so_instead_of_waiting_for_ever(restartable_redis: Restartable) -> None:
    await asyncio.to_thread(restartable_redis.kill)
    async with serving(restartable_redis.url, subscribe_seconds=0.3) as progress:
        watch = progress.watcher.stream(progress.stub.WatchRequest, deadline=None)
        with pytest.raises(NeighbourUnavailable):
            await anext(aiter(watch(pb.WatchRequestRequest(request_id=str(uuid.uuid4())))))
