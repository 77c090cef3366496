"""WatchRequests: everything that is told of many requests, as much at once as there is to tell.

A message of a stream costs its two ends a tenth of a millisecond of CPU however little it says, and workers post little
and often. Each watch reads its own stream on as it would alone; what they find meets in one heap, which is sent whole.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing

from horde.failures import Outage
from services.progress.deps import Deps
from services.progress.handlers.watch_request import watch_request
from services.progress.rules.feed import Changes, Lost, Piece, Told

_ROOM = 1_000_000
"""Characters that wait to be sent; then watches read their streams no further. A message is at most one post longer."""

_EVENT_SIZE = 100
"""What an event counts beside its text."""


async def watch_requests(
    changes: AsyncIterator[Changes], deps: Deps, *, tell_bug: Callable[[Exception], None]
) -> AsyncGenerator[Sequence[Told], None]:
    """What the watches find, for as long as the caller's changes may come. A bug ends one watch, and is told."""
    heap = _Heap(tell_bug)
    following = asyncio.create_task(_follow(changes, heap, deps), name="watch requests: changes")
    following.add_done_callback(lambda _: heap.close())
    try:
        while told := await heap.take():
            yield told
        await following
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _follow(changes: AsyncIterator[Changes], heap: "_Heap", deps: Deps) -> None:
    """Begins and ends watches as the caller says; ends all of them with itself."""
    watches: dict[int, asyncio.Task[None]] = {}
    try:
        async for change in changes:
            for number, request_id in change.begun:
                if number not in watches:
                    watching = _watch(number, request_id, heap, deps)
                    watches[number] = asyncio.create_task(watching, name="watch requests: one")
            for number in change.ended:
                ended = watches.pop(number, None)
                if ended is not None:
                    ended.cancel()
    finally:
        for watch in watches.values():
            watch.cancel()
        await asyncio.gather(*watches.values(), return_exceptions=True)


async def _watch(number: int, request_id: str, heap: "_Heap", deps: Deps) -> None:
    try:
        async with aclosing(watch_request(request_id, deps)) as events:
            async for event in events:
                await heap.put((number, event))
    except Outage as away:
        await heap.put((number, Lost(f"{away.whom} cannot be reached")))
    except Exception as bug:  # noqa: BLE001 - the other watches go on
        heap.tell_bug(bug)
        await heap.put((number, Lost("internal error")))


class _Heap:
    """What was found and not sent yet."""

    def __init__(self, tell_bug: Callable[[Exception], None]) -> None:
        self.tell_bug = tell_bug
        self._told: deque[Told] = deque()
        self._size = 0
        self._is_closed = False
        self._filled = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def put(self, told: Told) -> None:
        """Adds to the heap, as soon as it has room."""
        while not self._has_room.is_set():
            await self._has_room.wait()
        self._told.append(told)
        self._size += _size(told)
        if self._size >= _ROOM:
            self._has_room.clear()
        self._filled.set()

    async def take(self) -> Sequence[Told]:
        """All of it, as soon as there is anything; nothing once it is closed."""
        while not self._told and not self._is_closed:
            self._filled.clear()
            await self._filled.wait()
        taken = list(self._told)
        self._told.clear()
        self._size = 0
        self._has_room.set()
        return taken

    def close(self) -> None:
        """Nothing more will be put."""
        self._is_closed = True
        self._filled.set()


def _size(told: Told) -> int:
    event = told[1]
    return _EVENT_SIZE + (len(event.content) + len(event.reasoning_content) if isinstance(event, Piece) else 0)
