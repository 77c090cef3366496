"""A request's events as they come, read in the background so that whoever waits for them can wait for time as well."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self, cast

from horde.clock import Clock
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.gateway.neighbours import Neighbours
from services.gateway.openai import wire
from services.gateway.openai.reply import Ended, Piece, Signal, Subscribed

log = logs.get(__name__)

_MOST_UNREAD = 1000
"""Events kept for a client that reads slowly; then progress is read no further, and keeps them itself."""

_REOPEN_SECONDS = 1.0
"""The pause before progress is asked again: a replaced replica serves within seconds."""


class Watch:
    """Watches one request while the block runs. It outlives restarts of progress, after which events are told twice."""

    def __init__(self, neighbours: Neighbours, request_id: str, clock: Clock) -> None:
        self.is_live = False
        self._neighbours = neighbours
        self._request_id = request_id
        self._clock = clock
        self._unread: deque[Piece | Ended | Signal] = deque()
        self._woken = asyncio.Event()
        self._has_room = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._read(), name="front: watch")
        self._reader.add_done_callback(lambda _: self.wake())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    def wake(self) -> None:
        """Makes `take` return now, or the next one at once when none waits."""
        self._woken.set()

    async def take(self, until: float) -> list[Piece | Ended | Signal]:
        """The events that came, as soon as there are any; none at the time `until`, or when woken."""
        await self._wait(0 if self._unread else until - self._clock.monotonic())
        if self._reader is not None and self._reader.done():
            self._reader.result()
        taken = list(self._unread)
        self._unread.clear()
        self._has_room.set()
        return taken

    async def subscribed(self, seconds: float) -> bool:
        """Whether no later event can be missed; waits for that or to be woken, but no longer than `seconds`."""
        if not self.is_live and not self._unread:
            await self._wait(seconds)
        return self.is_live

    async def _wait(self, seconds: float) -> None:
        """Until woken: it may have been since the last wait, while nobody waited."""
        if seconds > 0 and not self._woken.is_set():
            timer = asyncio.get_running_loop().call_later(seconds, self._woken.set)
            try:
                await self._woken.wait()
            finally:
                timer.cancel()
        self._woken.clear()

    async def _read(self) -> None:
        ask = wire.watch_request(self._request_id)
        while True:
            try:
                opened = cast("AsyncGenerator[wire.Watched]", self._neighbours.watch_request(ask))
                async with aclosing(opened) as messages:
                    async for message in messages:
                        await self._put(message)
            except (Outage, Refusal) as away:
                log.info("watch lost", why=str(away))
            self.is_live = False
            await asyncio.sleep(_REOPEN_SECONDS)

    async def _put(self, message: wire.Watched) -> None:
        event = wire.event(message)
        if isinstance(event, Subscribed):
            self.is_live = True
        else:
            self._unread.append(event)
        self._woken.set()
        while len(self._unread) >= _MOST_UNREAD:
            self._has_room.clear()
            await self._has_room.wait()
