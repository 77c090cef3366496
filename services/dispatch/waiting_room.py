"""Where pops wait for jobs: each is woken when a message tells of a job that may fit it, the longest waiting first.

Only as many are woken as there are jobs. One that was woken for nothing passes the call on.
"""

import asyncio
import contextlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from uuid import UUID

from horde.telemetry.metrics import Counter, Gauge
from services.dispatch.rules.matching import Fit
from services.dispatch.rules.waking import Notice, may_fit

_SEATS = Gauge("horde_pop_waiting", "Pops that wait for a job now.")
_CALLS = Counter("horde_pop_calls_total", "Waiting pops that were woken, by what came of it.", ("outcome",))

_PASSES = 8
"""How often a call is passed on: a pop is woken for nothing when another came first, or by a rule no message tells."""


class Call:
    """One job's worth of a message, on its way from seat to seat."""

    __slots__ = ("asked", "notice", "passes")

    def __init__(self, notice: Notice, passes: int) -> None:
        self.notice = notice
        self.passes = passes
        self.asked: set[Seat] = set()


class Seat:
    """One pop, from before its first look at the queue: a call that comes while it looks is kept for its next one."""

    def __init__(self, room: "WaitingRoom") -> None:
        self._room = room
        self._woken = asyncio.Event()
        self._offer: tuple[UUID, Fit] | None = None
        self._looking_for: Call | None = None
        self._next: Call | None = None
        self._waits = False
        self.is_new = True
        """Until the pop has looked once."""

    def offer(self, worker: UUID, fit: Fit) -> None:
        """What the pop can take from now on."""
        self._offer = worker, fit

    @property
    def is_waiting(self) -> bool:
        """Whether the pop has looked and waits now."""
        return self._waits

    async def wait(self, seconds: float) -> bool:
        """True as soon as there may be a job; False when the time is over or the process is leaving."""
        self.is_new = False
        self._pass_on_the_one_looked_for()
        if self._next is None and not self._room.is_closing and seconds > 0:
            self._waits = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._woken.wait()
            self._waits = False
        self._woken.clear()
        self._looking_for, self._next = self._next, None
        return self._looking_for is not None and not self._room.is_closing

    def served(self) -> None:
        """The pop got its jobs."""
        if self._looking_for is not None and self.counts:
            _CALLS.labels("served").inc()
            self._looking_for = None

    def takes(self, call: Call) -> bool:
        """Takes a call that may fit, unless it has one already or had this one before."""
        if self._next is not None or self._offer is None or self in call.asked:
            return False
        if not may_fit(call.notice, *self._offer):
            return False
        call.asked.add(self)
        self._next = call
        self._woken.set()
        return True

    @property
    def counts(self) -> bool:
        """Whether a job goes with a call: a paused worker gets a fake one and leaves the real one to others."""
        return self._offer is not None and not self._offer[1].paused

    def wake(self) -> None:
        """Ends the wait."""
        self._woken.set()

    def leave(self) -> None:
        """Nobody sits here any more: what it was called for is left to others."""
        self._pass_on_the_one_looked_for()
        left, self._next = self._next, None
        if left is not None:
            self._room.pass_on(left)

    def _pass_on_the_one_looked_for(self) -> None:
        looked_for, self._looking_for = self._looking_for, None
        if looked_for is not None:
            _CALLS.labels("passed_on").inc()
            if self.counts:
                self._room.pass_on(looked_for)


class WaitingRoom:
    """The seats of one process, in the order in which they were taken."""

    def __init__(self) -> None:
        self.is_closing = False
        self._seats: dict[Seat, None] = {}

    def __len__(self) -> int:
        return len(self._seats)

    @property
    def seats(self) -> Collection[Seat]:
        """The seats that are taken, in the order in which they were."""
        return self._seats.keys()

    @contextmanager
    def seat(self) -> Iterator[Seat]:
        """A seat while the block runs. Take it before looking at the queue, so that nothing is told unheard."""
        seat = Seat(self)
        self._seats[seat] = None
        _SEATS.inc()
        try:
            yield seat
        finally:
            del self._seats[seat]
            _SEATS.dec()
            seat.leave()

    def tell(self, notice: Notice, *, passes: int = _PASSES) -> None:
        """Jobs began to wait: as many seats are called as there are jobs."""
        left = notice.jobs
        for seat in self._seats:
            if left <= 0:
                return
            if seat.takes(Call(notice, passes)) and seat.counts:
                left -= 1

    def pass_on(self, call: Call) -> None:
        """The next seat that may fit is called, if there is one and the call was not passed on too often."""
        if len(call.asked) <= call.passes:
            next((seat for seat in self._seats if seat.takes(call)), None)

    def close(self) -> None:
        """The process is leaving: every wait ends at once, and none begins."""
        self.is_closing = True
        for seat in self._seats:
            seat.wake()
