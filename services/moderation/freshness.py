"""A value that may be a little old: read again when it is older than it may be, by one caller for all."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from horde.clock import Clock


class Fresh[T]:
    """Remembers what `read` gave. A failure of `read` reaches the caller; an older value is never given instead."""

    def __init__(self, read: Callable[[], Awaitable[T]], *, max_age: timedelta, clock: Clock) -> None:
        self._read = read
        self._max_age = max_age.total_seconds()
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known: tuple[T, float] | None = None

    async def get(self) -> T:
        """The value, at most `max_age` old."""
        async with self._lock:
            known = self._known
            if known is not None and self._clock.monotonic() - known[1] < self._max_age:
                return known[0]
            return await self._reload()

    async def refresh(self) -> None:
        """Reads the value now, however old it is."""
        async with self._lock:
            await self._reload()

    async def _reload(self) -> T:
        # The age counts from before the read: what changes while it runs is not seen by it.
        began = self._clock.monotonic()
        value = await self._read()
        self._known = value, began
        return value
