"""One stage of a request's life at a time: replies handed in, and status reads, as fast as they are answered."""

import asyncio
import math
import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import perf_counter

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import Caller, callers, chat_body, pop_body, reply_body
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System

_WAITING = 500
"""Generations that one account may have waiting: the highest limit there is (base-domain 2.5)."""

_MOST_REPLIES_PER_SECOND = 400
"""More than two cores settle; the jobs popped before have to last for all of them."""

_AT_ONCE = 8

type Step = Callable[[], Awaitable[bool]]
"""One call; False when there is nothing left to do."""


async def replies(system: System, *, seconds: float, workers: int) -> Report:
    """Jobs are queued and popped first; then so many workers hand replies in, one job each time."""
    recorder = Recorder()
    async with Connections(system.gateway_url) as connections:
        owners = await callers(system, connections, recorder, prefix="bench_owner_", count=workers)
        run = secrets.token_hex(4)
        bodies = [pop_body(f"bench {run} {number}") for number in range(workers)]
        await owners[0].call("pop", "POST", "/api/v2/generate/text/pop", bodies[0])
        await _queued(system, connections, recorder, math.ceil(seconds * _MOST_REPLIES_PER_SECOND))
        held: list[list[str]] = [[] for _ in owners]

        async def pop(place: int) -> bool:
            popped = await owners[place].call("pop", "POST", "/api/v2/generate/text/pop", bodies[place])
            if popped is None or popped["id"] is None:
                return False
            held[place].append(popped["id"])
            return True

        async def hand_in(place: int) -> bool:
            if not held[place]:
                return False
            body = reply_body(held[place].pop())
            await owners[place].call("submit", "POST", "/api/v2/generate/text/submit", body)
            return True

        await asyncio.gather(*(_until_done(partial(pop, place)) for place in range(workers)))
        steps = [partial(hand_in, place) for place in range(workers)]
        return await _measured(system, recorder, steps, seconds, call="submit", title=f"replies, {workers} workers")


async def status(system: System, *, seconds: float, clients: int, waiting: int) -> Report:
    """So many clients read the status of requests that wait, one after the other."""
    recorder = Recorder()
    async with Connections(system.gateway_url) as connections:
        (owner,) = await callers(system, connections, recorder, prefix="bench_owner_", count=1)
        await owner.call("pop", "POST", "/api/v2/generate/text/pop", pop_body(f"bench {secrets.token_hex(4)}"))
        requests = await _queued(system, connections, recorder, waiting)

        async def read() -> bool:
            await owner.call("status", "GET", f"/api/v2/generate/chat/status/{secrets.choice(requests)}")
            return True

        title = f"status, {waiting} waiting, {clients} clients"
        return await _measured(system, recorder, [read] * clients, seconds, call="status", title=title)


async def _queued(system: System, connections: Connections, recorder: Recorder, amount: int) -> Sequence[str]:
    """The ids of so many requests that wait now."""
    count = math.ceil(amount / _WAITING)
    accounts = await callers(system, connections, recorder, prefix="bench_client_", count=count)
    wanted = iter([accounts[number // _WAITING] for number in range(amount)])
    made: list[str] = []

    async def submit() -> bool:
        account: Caller | None = next(wanted, None)
        if account is None:
            return False
        accepted = await account.call("chat submit", "POST", "/api/v2/generate/chat/async", chat_body())
        if accepted is not None:
            made.append(accepted["id"])
        return True

    await asyncio.gather(*(_until_done(submit) for _ in range(_AT_ONCE)))
    return made


async def _until_done(step: Step) -> None:
    while await step():
        pass


async def _measured(
    system: System, recorder: Recorder, steps: Sequence[Step], seconds: float, *, call: str, title: str
) -> Report:
    """Every step again and again, side by side, for so long or until there is nothing left to do."""
    before, start = cpu_seconds(system.pids), perf_counter()
    recorder.recording = True
    tasks = [asyncio.create_task(_until_done(step)) for step in steps]
    await asyncio.wait(tasks, timeout=seconds)
    recorder.recording = False
    elapsed, after = perf_counter() - start, cpu_seconds(system.pids)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return Report(
        title=title,
        unit="call",
        rate=len(recorder.calls[call]) / elapsed,
        seconds=elapsed,
        calls=recorder.calls,
        errors=recorder.errors,
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )
