"""Which clients wait for which requests: a retry finds its first try's request, and the last to leave cancels it.

Contract: clients-and-front 3.9 and 3.10, decision 27a. Who waits here is kept in this process; what other gateways
have to know of it, they learn by orphans.py.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

from horde.clock import Clock
from services.gateway.openai.orphans import Orphans

MOST_KEPT = 10_000
"""Accepted calls that are remembered for a retry."""

RETRY_SECONDS = 120.0
"""How long after its acceptance a call's retry may attach."""

GONE_SECONDS = 1.0
"""How long a retry waits until its first try's connection is known to be broken."""


type Leaving = Literal["answered", "failed", "gone"]
"""How a client stopped waiting: a reply was sent, an error was told, or it went away before either."""


@dataclass(eq=False, slots=True)
class Accepted:
    """A request that clients of this process wait for. `created` in Unix seconds."""

    request_id: str
    created: int
    accepted_at: float
    fingerprint: bytes | None
    listeners: int = 0
    is_answered: bool = False
    has_failed: bool = False
    is_cancelled: bool = False
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)
    timer: asyncio.Task[None] | None = None
    noting: asyncio.Task[None] | None = None


class Attaching:
    """All calls of this process that wait. `grace_seconds`: how long a request outlives a client that may come back."""

    def __init__(
        self, cancel: Callable[[str], Awaitable[object]], orphans: Orphans, clock: Clock, grace_seconds: float
    ) -> None:
        self._cancel = cancel
        self._orphans = orphans
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._waiting: dict[str, Accepted] = {}
        self._by_fingerprint: OrderedDict[bytes, Accepted] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()

    def accept(self, request_id: str, created: int, fingerprint: bytes | None, *, repeatable: bool = False) -> Accepted:
        """A client waits for this request now; without a fingerprint no retry is expected.

        `repeatable`: it may be the request of an earlier call, which another gateway would give up in a while.
        """
        one = self._waiting.get(request_id)
        if one is None:
            one = Accepted(request_id, created, self._clock.monotonic(), fingerprint)
            self._waiting[request_id] = one
            if repeatable:
                one.noting = self._start(self._orphans.join(request_id))
        self._join(one)
        if fingerprint is not None:
            self._by_fingerprint[fingerprint] = one
            self._by_fingerprint.move_to_end(fingerprint)
            if len(self._by_fingerprint) > MOST_KEPT:
                self._by_fingerprint.popitem(last=False)
        return one

    async def attach(self, fingerprint: bytes) -> Accepted | None:
        """The request of the first try, when its client is gone or was sent a reply; the caller waits for it now.

        An SDK repeats what it was sent a reply to only when the reply did not reach it.
        """
        one = self._by_fingerprint.get(fingerprint)
        if one is None:
            left = await self._orphans.find(fingerprint)
            return None if left is None else self.accept(*left, fingerprint)
        if self._clock.monotonic() - one.accepted_at > RETRY_SECONDS:
            return None
        try:
            async with asyncio.timeout(GONE_SECONDS):
                await one.abandoned.wait()
        except TimeoutError:
            return None
        if one.is_cancelled or (one.has_failed and not one.is_answered):
            return None
        self._waiting[one.request_id] = one
        self._join(one)
        return one

    def leave(self, one: Accepted, how: Leaving, *, keep: bool) -> None:
        """A client does not wait any more. `keep`: one that is gone may come back."""
        one.listeners -= 1
        one.is_answered = one.is_answered or how == "answered"
        one.has_failed = one.has_failed or how == "failed"
        if one.listeners:
            return
        one.abandoned.set()
        if one.is_answered or one.has_failed:
            self._waiting.pop(one.request_id, None)
            return
        one.timer = self._start(self._wait_for_it(one) if keep else self._abandon(one))

    def _join(self, one: Accepted) -> None:
        one.listeners += 1
        one.abandoned.clear()
        if one.timer is not None:
            one.timer.cancel()
            one.timer = None
            one.noting = self._start(self._orphans.join(one.request_id))

    async def _wait_for_it(self, one: Accepted) -> None:
        """The client may come back within the grace: to this gateway, which ends this task, or to another."""
        if one.noting is not None:
            await one.noting
        noted = await self._orphans.leave(one.request_id, one.created, one.fingerprint, self._grace_seconds)
        await asyncio.sleep(self._grace_seconds)
        if noted and await self._orphans.give_up(one.request_id) is False:
            self._waiting.pop(one.request_id, None)
            return
        await self._abandon(one)

    async def _abandon(self, one: Accepted) -> None:
        one.is_cancelled = True
        self._waiting.pop(one.request_id, None)
        # From here on a joining client must not stop the cancel half way.
        one.timer = None
        await self._cancel(one.request_id)

    def _start[T](self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name="front: abandoned")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
