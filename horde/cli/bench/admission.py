"""Chat submits alone: so many clients submit as fast as they are answered, and nobody works on what they queue."""

import asyncio
import itertools
import math
import secrets
from collections.abc import Iterator, Sequence
from time import perf_counter

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import Caller, callers, chat_body, pop_body
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System

_WARM_UP_SECONDS = 2.0

_WAITING = 500
"""Generations that one account may have waiting: the highest limit there is (base-domain 2.5)."""

_MOST_PER_SECOND = 1000
"""More submits than two cores answer; the accounts have to last for all of them."""


async def _client(accounts: Iterator[Caller], stop: asyncio.Event) -> None:
    while not stop.is_set():
        await next(accounts).call("chat submit", "POST", "/api/v2/generate/chat/async", chat_body())


async def _measure(
    system: System, recorder: Recorder, accounts: Iterator[Caller], n: int, *, seconds: float, warm_up: float
) -> Report:
    stop = asyncio.Event()
    tasks = [asyncio.create_task(_client(accounts, stop)) for _ in range(n)]
    await asyncio.sleep(warm_up)
    before, start = cpu_seconds(system.pids), perf_counter()
    recorder.recording = True
    await asyncio.sleep(seconds)
    recorder.recording = False
    elapsed, after = perf_counter() - start, cpu_seconds(system.pids)
    stop.set()
    await asyncio.gather(*tasks)
    return Report(
        title=f"admission, {n} client{'s' if n > 1 else ''}",
        unit="submit",
        rate=len(recorder.calls["chat submit"]) / elapsed,
        seconds=elapsed,
        calls={name: list(times) for name, times in recorder.calls.items()},
        errors=dict(recorder.errors),
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )


async def measure(
    system: System, *, seconds: float, clients: Sequence[int], warm_up: float = _WARM_UP_SECONDS
) -> list[Report]:
    """One report for each number of clients, in their order, on one system. `warm_up` in seconds, before each."""
    recorder = Recorder()
    queued = (seconds + warm_up) * _MOST_PER_SECOND * len(clients)
    async with Connections(system.gateway_url) as connections:
        (owner,) = await callers(system, connections, recorder, prefix="bench_owner_", count=1)
        requesters = await callers(
            system, connections, recorder, prefix="bench_client_", count=math.ceil(queued / _WAITING)
        )
        # a model nobody serves is refused: one pop makes its worker online for five minutes
        await owner.call("pop", "POST", "/api/v2/generate/text/pop", pop_body(f"bench {secrets.token_hex(4)}"))
        accounts, reports = itertools.cycle(requesters), []
        for n in clients:
            recorder.calls.clear()
            recorder.errors.clear()
            reports.append(await _measure(system, recorder, accounts, n, seconds=seconds, warm_up=warm_up))
    return reports
