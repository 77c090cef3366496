"""Loops: handlers without a caller. Each runs every so often, survives its own faults and tells when it last worked."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from horde.failures import Outage
from horde.telemetry import logs, tracing
from horde.telemetry.metrics import LONG_SECONDS, Counter, Gauge, Histogram

log = logs.get(__name__)

_RUNS = Counter("horde_loop_runs_total", "Runs of a loop, by how they ended.", ("loop", "outcome"))
_LAST_SUCCESS = Gauge("horde_loop_last_success_timestamp_seconds", "When a loop last did its work.", ("loop",))
_INTERVAL = Gauge("horde_loop_interval_seconds", "How long a loop pauses between its runs.", ("loop",))
_DURATION = Histogram("horde_loop_duration_seconds", "How long one run took.", ("loop",), buckets=LONG_SECONDS)


@dataclass(slots=True)
class Loop:
    """`run` is called at the start, then `every` after each end. It must be safe to run in two replicas at once."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]


class LoopRunner:
    """Runs loops until told to stop; a run that is under way may end."""

    def __init__(self, loops: Sequence[Loop]) -> None:
        self._loops = loops
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Starts every loop in a task of its own."""
        self._tasks = [asyncio.create_task(self._keep_running(loop), name=f"loop {loop.name}") for loop in self._loops]

    async def stop(self, within: float) -> None:
        """Lets the runs under way end for up to `within` seconds, then cancels them."""
        self._stopping.set()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=max(within, 0.0))
        for task in late:
            log.warning("loop cut short", loop=task.get_name())
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _keep_running(self, loop: Loop) -> None:
        _INTERVAL.labels(loop.name).set(loop.every.total_seconds())
        while not self._stopping.is_set():
            await run_once(loop)
            try:
                async with asyncio.timeout(loop.every.total_seconds()):
                    await self._stopping.wait()
            except TimeoutError:
                continue


async def run_once(loop: Loop) -> bool:
    """One run: traced, timed, counted. Never raises; False when the run failed."""
    tracing.adopt(tracing.new_traceparent())
    started = time.monotonic()
    outcome = "fault"
    try:
        with tracing.span(f"loop {loop.name}"):
            await loop.run()
        outcome = "ok"
        _LAST_SUCCESS.labels(loop.name).set_to_current_time()
    except Outage as away:
        outcome = "unavailable"
        log.warning("loop put off", loop=loop.name, why=str(away))
    except Exception:
        log.exception("fault", loop=loop.name)
    finally:
        _RUNS.labels(loop.name, outcome).inc()
        _DURATION.labels(loop.name).observe(time.monotonic() - started)
    return outcome == "ok"
