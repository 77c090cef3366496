"""WatchRequests: many watches over one stream, each as it would be alone, and nothing left behind."""

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator
from typing import Any

from prometheus_client import REGISTRY

from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1 import watching_service_pb2 as watching
from services.progress.live.keys import STREAM, WAKE
from tests.fakes.progress_service import Progress, a_lease, a_post, request_of, serving
from tests.servers import Restartable


class Line:
    """One caller with many watches. `heard`: what each was told, in short; `messages`: in how many messages."""

    def __init__(self, progress: Progress) -> None:
        self._changes: asyncio.Queue[watching.WatchRequestsRequest] = asyncio.Queue()
        self._numbers = itertools.count(1)
        self.call: Any = progress.lines.WatchRequests(self._asked())
        self._answers: AsyncIterator[watching.WatchRequestsResponse] = aiter(self.call)
        self.heard: dict[int, list[str]] = {}
        self.messages = 0

    def begin(self, *request_ids: str) -> list[int]:
        """Begins watches, in one message."""
        begun = [watching.BegunWatch(watch=next(self._numbers), request_id=one) for one in request_ids]
        self._changes.put_nowait(watching.WatchRequestsRequest(begin=begun))
        return [one.watch for one in begun]

    def end(self, *numbers: int) -> None:
        """Ends watches."""
        self._changes.put_nowait(watching.WatchRequestsRequest(end=numbers))

    async def read(self) -> None:
        """One message."""
        async with asyncio.timeout(5):
            message = await anext(self._answers)
        self.messages += 1
        for told in message.watched:
            self.heard.setdefault(told.watch, []).append(_said(told))

    async def hear(self, number: int, *said: str) -> None:
        """Reads until a watch was told exactly this."""
        while len(self.heard.get(number, ())) < len(said):
            await self.read()
        assert self.heard[number] == list(said)

    async def _asked(self) -> AsyncIterator[watching.WatchRequestsRequest]:
        while True:
            yield await self._changes.get()


def _said(told: watching.Watched) -> str:
    if told.HasField("failed"):
        return f"failed: {told.failed}"
    match told.event.WhichOneof("event"):
        case "subscribed":
            return "+"
        case "delta":
            return told.event.delta.content
        case "signal":
            return f"!{told.event.signal.event}"
    return "ended"


async def fill(progress: Progress, request_ids: list[str], seq: int) -> None:
    """A post of each request, all in the same moment."""
    async with progress.redis.pipeline(transaction=True) as together:
        for one in request_ids:
            together.xadd(STREAM(request=one), {"gen": one, "seq": seq, "content": f"{seq}"})
            together.publish(WAKE(request=one), "")
        await together.execute()


async def test_each_watch_is_told_what_it_would_be_told_alone(progress: Progress) -> None:
    late, early = a_lease(), a_lease()
    for lease in (late, early):
        await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(late, 1, "old"))
    line = Line(progress)
    first, second = line.begin(late.request_id, early.request_id)
    await line.hear(first, "+", "old")
    await line.hear(second, "+")
    await progress.stub.AppendProgress(a_post(early, 1, "new"))
    await progress.stub.CancelLeases(request_of(early))
    signals = [pb.Signal(event="done", generations=1)]
    await line.hear(second, "+", "new", "ended")
    await progress.stub.PublishEvents(pb.PublishEventsRequest(request_id=late.request_id, signals=signals))
    await line.hear(first, "+", "old", "!done")
    line.call.cancel()


async def test_what_comes_at_once_is_told_in_few_messages(progress: Progress) -> None:
    request_ids = [str(uuid.uuid4()) for _ in range(200)]
    line = Line(progress)
    numbers = line.begin(*request_ids)
    for number in numbers:
        await line.hear(number, "+")
    before = line.messages
    await fill(progress, request_ids, 1)
    for number in numbers:
        await line.hear(number, "+", "1")
    assert line.messages - before < len(request_ids) / 4
    line.call.cancel()


async def test_an_ended_watch_is_told_nothing_more_and_leaves_nothing(progress: Progress) -> None:
    kept, left = str(uuid.uuid4()), str(uuid.uuid4())
    line = Line(progress)
    first, second = line.begin(kept, left)
    await line.hear(first, "+")
    await line.hear(second, "+")
    line.end(second)
    while set(progress.watching._watches) != {kept}:  # noqa: ASYNC110 - a watch that is gone tells nobody
        await asyncio.sleep(0.01)
    await fill(progress, [left, kept], 1)
    await line.hear(first, "+", "1")
    assert line.heard[second] == ["+"]
    line.call.cancel()


async def test_a_caller_that_vanishes_leaves_no_watch_behind(progress: Progress) -> None:
    line = Line(progress)
    for number in line.begin(*(str(uuid.uuid4()) for _ in range(20))):
        await line.hear(number, "+")
    assert len(progress.watching._watches) == 20
    line.call.cancel()
    async with asyncio.timeout(5):
        while progress.watching._watches:  # noqa: ASYNC110 - a watch that is gone tells nobody
            await asyncio.sleep(0.01)


async def test_a_caller_that_does_not_read_leaves_entries_on_their_streams(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    line = Line(progress)
    (number,) = line.begin(request_id)
    await line.hear(number, "+")
    async with progress.redis.pipeline(transaction=False) as together:
        for seq in range(1, 801):
            together.xadd(STREAM(request=request_id), {"gen": request_id, "seq": seq, "content": "x" * 50_000})
        together.publish(WAKE(request=request_id), "")
        *_, last, _ = await together.execute()
    (watch,) = progress.watching._watches[request_id]
    before = b""
    while watch._last != before or before == b"0":
        before = watch._last
        await asyncio.sleep(0.2)
    assert watch._last < last
    await line.hear(number, "+", *["x" * 50_000] * 800)
    line.call.cancel()


async def test_without_redis_each_watch_is_told_so_and_the_line_goes_on(restartable_redis: Restartable) -> None:
    await asyncio.to_thread(restartable_redis.kill)
    async with serving(restartable_redis.url, subscribe_seconds=0.3) as progress:
        line = Line(progress)
        (number,) = line.begin(str(uuid.uuid4()))
        await line.hear(number, "failed: redis cannot be reached")
        await asyncio.to_thread(restartable_redis.start)
        again = 0
        async with asyncio.timeout(20):
            while line.heard.get(again) != ["+"]:
                (again,) = line.begin(str(uuid.uuid4()))
                while again not in line.heard:
                    await line.read()
        line.call.cancel()


async def test_a_bug_in_one_watch_is_counted_and_the_others_go_on(progress: Progress) -> None:
    def faults() -> float:
        labels = {"service": "progress", "method": "WatchRequests"}
        return REGISTRY.get_sample_value("horde_rpc_faults_total", labels) or 0.0

    broken, sound = str(uuid.uuid4()), str(uuid.uuid4())
    await progress.redis.xadd(STREAM(request=broken), {"gen": "without a number"})
    before = faults()
    line = Line(progress)
    first, second = line.begin(broken, sound)
    await line.hear(first, "+", "failed: internal error")
    await fill(progress, [sound], 1)
    await line.hear(second, "+", "1")
    assert faults() - before == 1
    line.call.cancel()
