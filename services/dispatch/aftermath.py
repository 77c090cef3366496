"""What follows a commit: work that must not fail the call that caused it, and that nobody waits for, or not for long.

Best effort by design: a burst that overfills the queue loses its newest work, and that is counted. Whatever has to
happen even so is found again by a loop, from a row that says it is due.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge

log = logs.get(__name__)

_WORK = Counter("horde_dispatch_aftermath_total", "Work done after a commit, by how it ended.", ("what", "outcome"))
_WAITING = Gauge("horde_dispatch_aftermath_waiting", "Work that waits for its turn after a commit.")

_CAPACITY = 10_000
"""Entries that may wait: half a minute of the busiest process, far under its memory."""

_RUNNERS = 16
"""How much runs at once: a slow neighbour delays, but never takes the whole process."""

type Work = Callable[[], Awaitable[object]]


class Aftermath:
    """A bounded queue of work and the tasks that do it."""

    def __init__(self, *, capacity: int = _CAPACITY, runners: int = _RUNNERS) -> None:
        self._queue: asyncio.Queue[tuple[str, Work]] = asyncio.Queue(capacity)
        self._runners = runners
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to work. Call it inside the event loop that serves."""
        self._tasks = [asyncio.create_task(self._keep_working()) for _ in range(self._runners)]

    def enqueue(self, what: str, work: Work) -> bool:
        """Has `work` done soon, or drops it: False. `what` is a short constant, for metrics. Never raises or waits."""
        try:
            self._queue.put_nowait((what, work))
        except asyncio.QueueFull:
            _WORK.labels(what, "dropped").inc()
            return False
        _WAITING.inc()
        return True

    async def finish(self, what: str, work: Work, *, within: float) -> None:
        """Has `work` done as `enqueue` does, and waits up to `within` seconds until it is. Never raises."""
        ended = asyncio.Event()

        async def then_tell() -> None:
            try:
                await work()
            finally:
                ended.set()

        if self.enqueue(what, then_tell):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), within)

    async def drain(self, within: float) -> None:
        """Lets what waits be done for up to `within` seconds; the rest is counted as dropped."""
        try:
            async with asyncio.timeout(within):
                await self._queue.join()
        except TimeoutError:
            log.warning("aftermath cut short", left=self._queue.qsize())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._queue.empty():
            what, _ = self._queue.get_nowait()
            _WAITING.dec()
            _WORK.labels(what, "dropped").inc()

    async def _keep_working(self) -> None:
        while True:
            what, work = await self._queue.get()
            _WAITING.dec()
            try:
                _WORK.labels(what, await _outcome(what, work)).inc()
            finally:
                self._queue.task_done()


async def _outcome(what: str, work: Work) -> str:
    try:
        await work()
    except (Outage, Refusal) as away:
        log.warning("aftermath lost", what=what, why=str(away))
        return "unavailable"
    except Exception:
        log.exception("fault", what=what)
        return "fault"
    return "ok"
