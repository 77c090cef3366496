"""The round trip: clients submit and poll, workers pop and hand in, everybody as fast as they are answered."""

import asyncio
import secrets
from collections.abc import Sequence
from time import perf_counter

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import Caller, callers, chat_body, pause, pop_body, reply_body
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System
from horde.settings import PostgresSettings
from horde.store import Store, queries

_SQL = queries("horde.cli")

_WARM_UP_SECONDS = 2.0
_WAIT_SECONDS = 2
"""How long a pop of the front's workers waits: not much longer than the benchmark at its end."""


async def _client(caller: Caller, stop: asyncio.Event) -> None:
    while not stop.is_set():
        start = perf_counter()
        accepted = await caller.call("chat submit", "POST", "/api/v2/generate/chat/async", chat_body())
        if accepted is None:
            await pause()
            continue
        while not stop.is_set():
            status = await caller.call("status", "GET", f"/api/v2/generate/chat/status/{accepted['id']}")
            if status is None or status["done"]:
                break
            await pause()
        if caller.recorder.recording and not stop.is_set():
            caller.recorder.calls["round trip"].append(perf_counter() - start)


async def _front_client(caller: Caller, stop: asyncio.Event) -> None:
    while not stop.is_set():
        with caller.recorder.timed("round trip"):
            await caller.call("completion", "POST", "/v1/chat/completions", chat_body())


async def _worker(caller: Caller, name: str, stop: asyncio.Event, *, waits: bool) -> None:
    body = pop_body(name) | ({"wait_seconds": _WAIT_SECONDS} if waits else {})
    while not stop.is_set():
        popped = await caller.call("pop", "POST", "/api/v2/generate/text/pop", body)
        if popped is None or popped["id"] is None:
            await pause()
            continue
        await caller.call("submit", "POST", "/api/v2/generate/text/submit", reply_body(popped["id"]))


async def _age_workers(system: System, names: Sequence[str]) -> None:
    """A worker's first half minute is not like the rest: until then each of its pops is a check-in."""
    settings = PostgresSettings(database_url=system.database_url, database_pool_size=1)
    async with Store.open(settings, application_name="horde-bench") as store:
        await store.execute(_SQL["age_workers"], names)


async def measure(system: System, *, seconds: float, clients: int, workers: int, front: bool = False) -> Report:
    """Run the crowd and report whole round trips per second. `front`: through /v1, by workers whose pops wait."""
    client = _front_client if front else _client
    recorder = Recorder()
    async with Connections(system.gateway_url) as connections:
        requesters = await callers(system, connections, recorder, prefix="bench_client_", count=clients)
        owners = await callers(system, connections, recorder, prefix="bench_owner_", count=workers)
        run, stop = f"bench {secrets.token_hex(4)}", asyncio.Event()
        names = [f"{run} {n}" for n in range(workers)]
        crowd = zip(owners, names, strict=True)
        tasks = [asyncio.create_task(_worker(owner, name, stop, waits=front)) for owner, name in crowd]
        # a model nobody serves is refused, so the workers come first
        await asyncio.sleep(0.5)
        await _age_workers(system, names)
        tasks += [asyncio.create_task(client(requester, stop)) for requester in requesters]
        await asyncio.sleep(_WARM_UP_SECONDS)
        before, start = cpu_seconds(system.pids), perf_counter()
        recorder.recording = True
        await asyncio.sleep(seconds)
        recorder.recording = False
        elapsed, after = perf_counter() - start, cpu_seconds(system.pids)
        stop.set()
        await asyncio.gather(*tasks)
    return Report(
        title=f"round trip{' through the front' if front else ''}, {clients} clients, {workers} workers",
        unit="job",
        rate=len(recorder.calls["round trip"]) / elapsed,
        seconds=elapsed,
        calls=recorder.calls,
        errors=recorder.errors,
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )
