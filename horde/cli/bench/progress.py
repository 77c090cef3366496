"""Progress posts: so many generations run at once, each posts as fast as it is answered."""

import asyncio
import secrets
from time import perf_counter

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import Caller, callers, chat_body, pop_body, reply_body
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System

# a generation of 80 tokens may post 1,280 bytes, at most 1,000 times
_POSTS_PER_GENERATION = 60
_PIECE = "The sea is wide."


async def _generation(owner: Caller, client: Caller, name: str, stop: asyncio.Event) -> None:
    """Serve one streamed request after the other, posting all the time."""
    body = pop_body(name)
    await owner.call("pop", "POST", "/api/v2/generate/text/pop", body)
    while not stop.is_set():
        await client.call("chat submit", "POST", "/api/v2/generate/chat/async", chat_body(stream=True))
        popped = await owner.call("pop", "POST", "/api/v2/generate/text/pop", body)
        if popped is None or popped["id"] is None:
            await asyncio.sleep(0.01)
            continue
        for seq in range(1, _POSTS_PER_GENERATION + 1):
            if stop.is_set():
                return
            await owner.call(
                "post",
                "POST",
                "/api/v2/generate/text/progress",
                {"id": popped["id"], "seq": seq, "delta": {"content": _PIECE}},
            )
        await owner.call("submit", "POST", "/api/v2/generate/text/submit", reply_body(popped["id"]))


async def measure(system: System, *, seconds: float, streams: int) -> Report:
    """Run the generations and report posts per second."""
    recorder = Recorder()
    async with Connections(system.gateway_url) as connections:
        clients = await callers(system, connections, recorder, prefix="bench_reader_", count=streams)
        owners = await callers(system, connections, recorder, prefix="bench_writer_", count=streams)
        run, stop = f"bench {secrets.token_hex(4)}", asyncio.Event()
        tasks = [
            asyncio.create_task(_generation(owner, client, f"{run} {n}", stop))
            for n, (owner, client) in enumerate(zip(owners, clients, strict=True))
        ]
        await asyncio.sleep(2.0)
        before, start = cpu_seconds(system.pids), perf_counter()
        recorder.recording = True
        await asyncio.sleep(seconds)
        recorder.recording = False
        elapsed, after = perf_counter() - start, cpu_seconds(system.pids)
        stop.set()
        await asyncio.gather(*tasks)
    return Report(
        title=f"progress, {streams} streams",
        unit="post",
        rate=len(recorder.calls["post"]) / elapsed,
        seconds=elapsed,
        calls=recorder.calls,
        errors=recorder.errors,
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )
