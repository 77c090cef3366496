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
        self._changes = 0

    def forget(self) -> None:
        """What was asked about has changed: the next caller asks anew, also beside a question that is under way."""
        self._changes += 1
        self._known = None
        self._asking = None

    async def get(self) -> T:
        """The answer. Raises what `ask` raises."""
        if self._known is not None and self._clock.monotonic() < self._known[0]:
            return self._known[1]
        if self._asking is None:
            self._asking = asyncio.create_task(self._renew(self._changes))
            self._asking.add_done_callback(self._ended)
        # Shielded: the first caller may go away while others wait for the same answer.
        return await asyncio.shield(self._asking)

    async def _renew(self, changes: int) -> T:
        answer = await self._ask()
        if changes == self._changes:
            self._known = (self._clock.monotonic() + self._seconds, answer)
        return answer

    def _ended(self, asked: asyncio.Task[T]) -> None:
        if self._asking is asked:
            self._asking = None
        if not asked.cancelled():
            # Marks a failure as seen when every caller has gone away.
            asked.exception()
