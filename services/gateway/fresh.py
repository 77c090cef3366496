"""An answer that is asked for again only when it is old, and by one caller at a time."""

import asyncio
from collections.abc import Awaitable, Callable

from horde.clock import Clock


class Fresh[T]:
    """What `ask` answered at most `seconds` ago. A failure is not kept: every caller waiting for it sees it."""

    def __init__(self, ask: Callable[[], Awaitable[T]], seconds: float, clock: Clock) -> None:
        self._ask = ask
        self._seconds = seconds
        self._clock = clock
        self._known: tuple[float, T] | None = None
        self._asking: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """The answer. Raises what `ask` raises."""
        if self._known is not None and self._clock.monotonic() < self._known[0]:
            return self._known[1]
        if self._asking is None:
            self._asking = asyncio.create_task(self._renew())
            self._asking.add_done_callback(self._ended)
        # Shielded: the first caller may go away while others wait for the same answer.
        return await asyncio.shield(self._asking)

    async def _renew(self) -> T:
        answer = await self._ask()
        self._known = (self._clock.monotonic() + self._seconds, answer)
        return answer

    def _ended(self, asked: asyncio.Task[T]) -> None:
        self._asking = None
        if not asked.cancelled():
            # Marks a failure as seen when every caller has gone away.
            asked.exception()
