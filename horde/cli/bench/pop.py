"""Pops alone, from queues of different lengths: so many workers pop as fast as they are answered; nobody hands in."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import MODEL, Caller, callers, pop_body
from horde.cli.bench.queue import CONTEXT, LENGTH, Queue
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System
from horde.settings import PostgresSettings
from horde.store import Store, queries

_SQL = queries("horde.cli")

_WARM_UP_SECONDS = 2.0

_RESERVE = 100
"""Requests that fit, at the least: those of the shortest queue last for a part of a second."""

_FILL_SECONDS = 600.0
"""A million requests take a minute or two."""


def _body(name: str) -> dict[str, object]:
    """A worker that takes chat and text jobs, and serves more models than one."""
    return {
        **pop_body(name),
        "models": [MODEL, *(f"bench/Own-{number}" for number in range(4))],
        "max_length": LENGTH,
        "max_context_length": CONTEXT,
        "prompt_jobs": True,
        "chat_limits": {"max_context_length": CONTEXT, "max_length": LENGTH},
    }


@dataclass(frozen=True)
class _Worker:
    """One worker, and the account of its owner."""

    owner: Caller
    name: str

    async def pop(self) -> bool:
        """Whether it got a job."""
        popped = await self.owner.call("pop", "POST", "/api/v2/generate/text/pop", _body(self.name))
        return popped is not None and popped["id"] is not None

    async def pop_until(self, stop: asyncio.Event, queue: Queue) -> None:
        """Pops as fast as it is answered."""
        while not stop.is_set():
            if await self.pop():
                await queue.taken()


@dataclass(frozen=True)
class _Bench:
    """What every measurement of one run shares."""

    system: System
    recorder: Recorder
    workers: Sequence[_Worker]
    seconds: float
    warm_up: float

    async def measure(self, queue: Queue, title: str) -> Report:
        """All workers pop from a queue that stays as long as it is."""
        recorder, stop = self.recorder, asyncio.Event()
        recorder.calls.clear()
        recorder.errors.clear()
        tasks = [asyncio.create_task(worker.pop_until(stop, queue)) for worker in self.workers]
        await asyncio.sleep(self.warm_up)
        before, start = cpu_seconds(self.system.pids), perf_counter()
        recorder.recording = True
        await asyncio.sleep(self.seconds)
        recorder.recording = False
        elapsed, after = perf_counter() - start, cpu_seconds(self.system.pids)
        stop.set()
        await asyncio.gather(*tasks)
        return Report(
            title=title,
            unit="pop",
            rate=len(recorder.calls["pop"]) / elapsed,
            seconds=elapsed,
            calls={name: list(times) for name, times in recorder.calls.items()},
            errors=dict(recorder.errors),
            cpu={name: after[name] - before.get(name, 0.0) for name in after},
        )


async def measure(
    system: System,
    *,
    waiting: Sequence[int],
    mix: str,
    seconds: float,
    workers: int,
    warm_up: float = _WARM_UP_SECONDS,
) -> AsyncIterator[Report]:
    """One report for each length of the queue, shortest first, on one system."""
    # without looking every foreign key up: nothing here refers to what is not there
    settings = PostgresSettings(
        database_url=f"{system.database_url}?session_replication_role=replica",
        database_pool_size=1,
        database_statement_seconds=_FILL_SECONDS,
    )
    async with (
        Store.open(settings, application_name="horde-bench") as store,
        Connections(system.gateway_url) as connections,
    ):
        # what refilling the queue costs is no cost of popping
        system = system.watching("refilling", await store.fetchval(_SQL["backend_pid"]))
        recorder = Recorder()
        owners = await callers(system, connections, recorder, prefix="bench_owner_", count=workers)
        crowd = [_Worker(owner, f"bench {secrets.token_hex(6)}") for owner in owners]
        for worker in crowd:
            await worker.pop()
        await store.execute(_SQL["age_workers"], [worker.name for worker in crowd])
        bench = _Bench(system, recorder, crowd, seconds, warm_up)
        queue = Queue(store, mix, reserve=_RESERVE)
        try:
            for length in sorted(waiting):
                await queue.grow(length)
                title = f"pop, {mix}, {length} waiting, {workers} worker{'s' if workers > 1 else ''}"
                yield await bench.measure(queue, title)
        finally:
            await queue.empty()
