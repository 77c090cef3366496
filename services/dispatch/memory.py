"""Answers that may be a little old: a bounded map whose entries end by themselves."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Any

_REMEMBERED = 20_000
"""Entries kept; the oldest goes first. An availability with its worker ids is about a kilobyte."""


class Memory:
    """One per process; another replica may remember something else for as long."""

    def __init__(self, capacity: int = _REMEMBERED) -> None:
        self._capacity = capacity
        self._known: dict[Hashable, tuple[float, object]] = {}
        self._asking: dict[Hashable, asyncio.Future[Any]] = {}
        self.changes = 0
        """How often something was forgotten so far."""

    def get(self, key: Hashable, *, now: float) -> object | None:
        """What was put there, unless its time is over. `now`: the monotonic clock, in seconds."""
        known = self._known.get(key)
        if known is None or known[0] <= now:
            return None
        return known[1]

    def put(self, key: Hashable, value: object, seconds: float, *, now: float, changes: int | None = None) -> None:
        """Keeps a value for so many seconds.

        `changes`: as it was before the value was asked for; something forgotten since may be this very value, which is
        then not kept.
        """
        if changes is not None and changes != self.changes:
            return
        self._known.pop(key, None)
        if len(self._known) >= self._capacity:
            del self._known[next(iter(self._known))]
        self._known[key] = (now + seconds, value)

    def forget(self, key: Hashable) -> None:
        """What was asked about has changed: the next caller asks anew, also beside a question that is under way."""
        self.changes += 1
        self._known.pop(key, None)
        self._asking.pop(key, None)

    async def ask_once[T](self, key: Hashable, ask: Callable[[], Awaitable[T]]) -> T:
        """Asks, unless somebody asks the same already: then waits for that answer.

        A caller that goes away leaves the question to the others.
        """
        asking: asyncio.Future[T] | None = self._asking.get(key)
        if asking is None:
            asking = asyncio.ensure_future(ask())
            self._asking[key] = asking
            asking.add_done_callback(partial(self._ended, key))
        return await asyncio.shield(asking)

    def _ended(self, key: Hashable, asked: asyncio.Future[Any]) -> None:
        if self._asking.get(key) is asked:
            del self._asking[key]
