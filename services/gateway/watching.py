"""What progress tells of the requests that are followed here: all of them over one stream, many events in one message.

A message of a stream costs its two ends a tenth of a millisecond of CPU however little it says. So there is one stream
for all, a *line*, and each reader takes what is its own. A reader that does not keep up is taken off the line, and put
on it again when it has read: what it has not read stands with progress, which tells it all again, and what it had is
left out. docs/adr/0027.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from contextvars import Context
from typing import cast

from horde.clock import Clock
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc.client import NeighbourUnavailable
from horde.telemetry import logs
from horde_pb.progress.v1.progress_service_pb2 import WatchRequestRequest, WatchRequestResponse
from horde_pb.progress.v1.watching_service_pb2 import BegunWatch, WatchRequestsRequest, WatchRequestsResponse

log = logs.get(__name__)

MOST_UNREAD = 1000
"""Events kept for a reader of the line."""

_LINE_SECONDS = 300.0
"""After this, new watches go over a new line, which finds the replicas of progress that came later."""

type Single = Callable[[WatchRequestRequest], AsyncIterator[WatchRequestResponse]]
type Many = Callable[[AsyncIterator[WatchRequestsRequest]], AsyncIterator[WatchRequestsResponse]]


class Watching:
    """All watches of this process."""

    def __init__(self, single: Single, many: Many, clock: Clock) -> None:
        self._single = single
        self._many = many
        self._clock = clock
        self._line: _Line | None = None

    async def events(self, ask: WatchRequestRequest) -> AsyncGenerator[WatchRequestResponse]:
        """A request's events from their start, until the caller has enough. Raises NeighbourUnavailable, Refusal.

        `subscribed` comes again whenever events, but no posts, may have been missed.
        """
        try:
            async with aclosing(self._shared(ask.request_id)) as events:
                async for event in events:
                    yield event
        except NeighbourUnavailable as away:
            if away.code != "UNIMPLEMENTED":
                raise
            # A progress of an earlier version, while a new one is rolled out.
            async with aclosing(cast("AsyncGenerator[WatchRequestResponse]", self._single(ask))) as events:
                async for event in events:
                    yield event

    async def _shared(self, request_id: str) -> AsyncGenerator[WatchRequestResponse]:
        line = self._current()
        watch = _Watch(request_id)
        line.join(watch)
        try:
            while True:
                for event in await watch.take():
                    yield event
                if watch.is_cut:
                    line.begin(watch)
        finally:
            line.leave(watch)

    def _current(self) -> "_Line":
        now = self._clock.monotonic()
        if self._line is None or self._line.failure is not None or now - self._line.began_at >= _LINE_SECONDS:
            self._line = _Line(self._many, now)
        return self._line


class _Watch:
    """One reader. `number`: under which the line knows it now; of what comes under an earlier one, nothing is meant."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.number = 0
        self.is_cut = False
        self._failure: Exception | None = None
        self._unread: deque[WatchRequestResponse] = deque()
        self._woken = asyncio.Event()
        self._last: dict[str, int] = {}

    def put(self, event: WatchRequestResponse) -> None:
        """Keeps what was not told before, while there is room; else the watch is cut."""
        if len(self._unread) >= MOST_UNREAD:
            self.is_cut = True
            return
        if event.HasField("delta"):
            delta = event.delta
            if delta.seq <= self._last.get(delta.generation_id, 0):
                return
            self._last[delta.generation_id] = delta.seq
        self._unread.append(event)
        self._woken.set()

    def fail(self, failure: Exception) -> None:
        """Nothing more will come."""
        self._failure = failure
        self._woken.set()

    async def take(self) -> list[WatchRequestResponse]:
        """All that came, as soon as there is anything. Raises what the line, or this watch alone, failed with."""
        while not self._unread:
            if self._failure is not None:
                raise self._failure
            self._woken.clear()
            await self._woken.wait()
        taken = list(self._unread)
        self._unread.clear()
        return taken


class _Line:
    """One stream. It begins with its first reader and ends with its last."""

    def __init__(self, many: Many, began_at: float) -> None:
        self.began_at = began_at
        self.failure: Exception | None = None
        self._many = many
        self._readers: set[_Watch] = set()
        self._by_number: dict[int, _Watch] = {}
        self._numbers = itertools.count(1)
        self._pending = WatchRequestsRequest()
        self._changed = asyncio.Event()
        # In no caller's context: neither its deadline nor its trace is that of all.
        self._task = asyncio.create_task(self._read(), name="watch line", context=Context())

    def join(self, watch: _Watch) -> None:
        """Adds a reader."""
        self._readers.add(watch)
        self.begin(watch)

    def leave(self, watch: _Watch) -> None:
        """Removes a reader; the last one ends the line."""
        self._readers.discard(watch)
        self._end(watch.number)
        if not self._readers:
            self._over(NeighbourUnavailable("progress", "nobody reads any more", "CANCELLED"))
            self._task.cancel()

    def begin(self, watch: _Watch) -> None:
        """Has a reader told everything from the start, under a new number."""
        watch.number, watch.is_cut = next(self._numbers), False
        self._by_number[watch.number] = watch
        self._pending.begin.append(BegunWatch(watch=watch.number, request_id=watch.request_id))
        self._changed.set()
        if self.failure is not None:
            watch.fail(self.failure)

    def _end(self, number: int) -> None:
        if self._by_number.pop(number, None) is not None:
            self._pending.end.append(number)
            self._changed.set()

    def _over(self, failure: Exception) -> None:
        self.failure = failure
        for watch in self._readers:
            watch.fail(failure)

    async def _changes(self) -> AsyncIterator[WatchRequestsRequest]:
        while True:
            await self._changed.wait()
            self._changed.clear()
            pending, self._pending = self._pending, WatchRequestsRequest()
            yield pending

    async def _read(self) -> None:
        try:
            opened = cast("AsyncGenerator[WatchRequestsResponse]", self._many(self._changes()))
            async with aclosing(opened) as messages:
                async for message in messages:
                    self._share(message)
        except (Outage, Refusal) as away:
            self._over(away)
        except Exception as bug:
            log.exception("fault", what="watch line")
            self._over(bug)
        else:
            self._over(NeighbourUnavailable("progress", "the stream ended", "UNAVAILABLE"))

    def _share(self, message: WatchRequestsResponse) -> None:
        for told in message.watched:
            watch = self._by_number.get(told.watch)
            if watch is None:
                continue
            if told.HasField("failed"):
                watch.fail(NeighbourUnavailable("progress", told.failed, "UNAVAILABLE"))
                continue
            watch.put(told.event)
            if watch.is_cut:
                self._end(watch.number)
