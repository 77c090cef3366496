"""All watches of a gateway over one line: what each reader gets, also when it is slow, late or the only one left."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from horde.rpc.client import NeighbourUnavailable
from horde_pb.progress.v1.progress_service_pb2 import Delta, Subscribed, WatchRequestRequest, WatchRequestResponse
from horde_pb.progress.v1.watching_service_pb2 import Watched, WatchRequestsRequest, WatchRequestsResponse
from services.gateway.watching import MOST_UNREAD, Watching
from tests.fakes.clock import FakeClock


@dataclass
class Line:
    """One stream at progress. Each new watch is told all posts of its request so far; `say` tells who watches now."""

    posts: dict[str, int]
    watches: dict[int, str] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)
    told: asyncio.Queue[WatchRequestsResponse | Exception] = field(default_factory=asyncio.Queue)
    is_over: bool = False

    async def run(self, changes: AsyncIterator[WatchRequestsRequest]) -> AsyncGenerator[WatchRequestsResponse]:
        following = asyncio.create_task(self._follow(changes))
        try:
            while True:
                told = await self.told.get()
                if isinstance(told, Exception):
                    raise told
                yield told
        finally:
            self.is_over = True
            following.cancel()

    async def _follow(self, changes: AsyncIterator[WatchRequestsRequest]) -> None:
        async for change in changes:
            for one in change.begin:
                self.watches[one.watch] = one.request_id
                self.begun.append(one.request_id)
                self._tell(Watched(watch=one.watch, event=WatchRequestResponse(subscribed=Subscribed())))
                self._tell(*(_post(one.watch, seq) for seq in range(1, self.posts.get(one.request_id, 0) + 1)))
            for number in change.end:
                del self.watches[number]

    def say(self, request_id: str, times: int = 1) -> None:
        """New posts of a request, in one message."""
        first = self.posts.get(request_id, 0) + 1
        self.posts[request_id] = first + times - 1
        numbers = [number for number, watched in self.watches.items() if watched == request_id]
        self._tell(*(_post(number, seq) for seq in range(first, first + times) for number in numbers))

    def _tell(self, *watched: Watched) -> None:
        self.told.put_nowait(WatchRequestsResponse(watched=watched))


def _post(number: int, seq: int) -> Watched:
    return Watched(watch=number, event=WatchRequestResponse(delta=Delta(generation_id="g", seq=seq)))


class Progress:
    """Progress as the gateway sees it, and the watching under test."""

    def __init__(self, *, knows_lines: bool = True) -> None:
        self.clock = FakeClock()
        self.lines: list[Line] = []
        self.alone: list[str] = []
        self._posts: dict[str, int] = {}
        self._knows_lines = knows_lines
        self.watching = Watching(self._single, self._many, self.clock)

    async def _single(self, ask: WatchRequestRequest) -> AsyncGenerator[WatchRequestResponse]:
        self.alone.append(ask.request_id)
        yield WatchRequestResponse(subscribed=Subscribed())

    async def _many(self, changes: AsyncIterator[WatchRequestsRequest]) -> AsyncGenerator[WatchRequestsResponse]:
        if not self._knows_lines:
            raise NeighbourUnavailable("progress", "Method not found!", "UNIMPLEMENTED")
        self.lines.append(Line(self._posts))
        async with aclosing(self.lines[-1].run(changes)) as messages:
            async for message in messages:
                yield message

    def read(self, request_id: str) -> AsyncGenerator[WatchRequestResponse]:
        """A reader of one request."""
        return self.watching.events(WatchRequestRequest(request_id=request_id))


async def take(reader: AsyncGenerator[WatchRequestResponse], count: int = 1) -> list[int]:
    """The next posts by their number; `subscribed` is 0."""
    async with asyncio.timeout(5):
        return [(await anext(reader)).delta.seq for _ in range(count)]


async def settle() -> None:
    """Lets everything that can happen now happen."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_all_readers_share_one_line_and_each_gets_its_own() -> None:
    progress = Progress()
    one, other = progress.read("a"), progress.read("b")
    assert (await take(one), await take(other)) == ([0], [0])
    (line,) = progress.lines
    line.say("a", 2)
    line.say("b")
    assert (await take(one, 2), await take(other)) == ([1, 2], [1])
    await one.aclose()
    await other.aclose()


async def test_a_reader_that_does_not_keep_up_is_told_everything_once_and_holds_up_nobody() -> None:
    progress = Progress()
    slow, quick = progress.read("slow"), progress.read("quick")
    assert (await take(slow), await take(quick)) == ([0], [0])
    (line,) = progress.lines
    line.say("slow", 2 * MOST_UNREAD + 500)
    line.say("quick")
    assert await take(quick) == [1]
    await settle()
    assert set(line.watches.values()) == {"quick"}
    heard = [seq for seq in await take(slow, 2 * MOST_UNREAD + 502) if seq]
    assert heard == list(range(1, 2 * MOST_UNREAD + 501))
    assert line.begun == ["slow", "quick", "slow", "slow"]
    line.say("slow")
    assert await take(slow) == [2 * MOST_UNREAD + 501]
    await slow.aclose()
    await quick.aclose()


async def test_the_last_reader_that_leaves_ends_the_line() -> None:
    progress = Progress()
    one, other = progress.read("a"), progress.read("b")
    await take(one)
    await take(other)
    await one.aclose()
    await settle()
    (line,) = progress.lines
    assert (line.is_over, list(line.watches.values())) == (False, ["b"])
    await other.aclose()
    await settle()
    assert line.is_over
    again = progress.read("a")
    await take(again)
    assert len(progress.lines) == 2
    await again.aclose()


async def test_a_line_that_breaks_fails_its_readers_and_the_next_one_begins_a_new_line() -> None:
    progress = Progress()
    one, other = progress.read("a"), progress.read("b")
    await take(one)
    await take(other)
    progress.lines[0].say("a")
    progress.lines[0].told.put_nowait(NeighbourUnavailable("progress", "stopping", "UNAVAILABLE"))
    assert await take(one) == [1]
    for reader in (one, other):
        with pytest.raises(NeighbourUnavailable, match="stopping"):
            await take(reader)
    again = progress.read("a")
    assert await take(again, 2) == [0, 1]
    await again.aclose()


async def test_a_watch_that_fails_leaves_the_others_alone() -> None:
    progress = Progress()
    one, other = progress.read("a"), progress.read("b")
    await take(one)
    await take(other)
    (line,) = progress.lines
    number = next(number for number, watched in line.watches.items() if watched == "a")
    line.told.put_nowait(WatchRequestsResponse(watched=[Watched(watch=number, failed="redis cannot be reached")]))
    with pytest.raises(NeighbourUnavailable, match="redis cannot be reached"):
        await take(one)
    line.say("b")
    assert await take(other) == [1]
    await other.aclose()


async def test_after_five_minutes_new_readers_take_a_new_line_and_the_old_ones_stay() -> None:
    progress = Progress()
    old = progress.read("a")
    await take(old)
    progress.clock.advance(timedelta(seconds=301))
    new = progress.read("b")
    await take(new)
    first, second = progress.lines
    assert (list(first.watches.values()), list(second.watches.values())) == (["a"], ["b"])
    first.say("a")
    assert await take(old) == [1]
    await old.aclose()
    await settle()
    assert (first.is_over, second.is_over) == (True, False)
    await new.aclose()


async def test_a_progress_of_an_earlier_version_is_asked_for_each_request_alone() -> None:
    progress = Progress(knows_lines=False)
    reader = progress.read("a")
    assert await take(reader) == [0]
    assert progress.alone == ["a"]
    await reader.aclose()
