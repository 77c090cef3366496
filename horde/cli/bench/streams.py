"""Streams of the OpenAI front: how late a post reaches its client, what a chunk costs, what an open stream holds."""

import asyncio
import itertools
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter

import aiohttp
import grpc

from horde.cli.bench.connections import Connections
from horde.cli.bench.crowd import Caller, callers, chat_body, pop_body
from horde.cli.bench.posts import LANES, a_lease, a_post
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System
from horde_pb.progress.v1.progress_service_pb2 import AppendTogetherRequest, OpenLeaseRequest
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceStub

_WARM_UP_SECONDS = 2.0
_POSTS_PER_SECOND = 2.0
"""How often a worker posts: about twice a second."""

_STAMP = 16
"""Digits of a moment in microseconds since 1970, with which each piece begins."""

_OPENING_AT_ONCE = 32


@asynccontextmanager
async def open_streams(
    system: System, session: aiohttp.ClientSession, clients: Sequence[Caller], count: int
) -> AsyncIterator[list[aiohttp.ClientResponse]]:
    """So many streams whose requests wait for a worker."""
    async with AsyncExitStack() as closing:
        room = asyncio.Semaphore(_OPENING_AT_ONCE)
        body = {**chat_body(stream=True), "max_tokens": 1024}

        async def opened(client: Caller) -> aiohttp.ClientResponse:
            async with room:
                headers = {"Authorization": f"Bearer {client.api_key}"}
                url = f"{system.gateway_url}/v1/chat/completions"
                response = await closing.enter_async_context(session.post(url, json=body, headers=headers))
                response.raise_for_status()
                return response

        yield list(
            await asyncio.gather(*(opened(client) for client in itertools.islice(itertools.cycle(clients), count)))
        )


async def measure(
    system: System, *, seconds: float, streams: int, posts_per_second: float = _POSTS_PER_SECOND
) -> Report:
    """Posts go to progress directly, so the gateway's CPU is that of relaying alone.

    0 posts a second: as many as progress takes, and together, as busy gateways send them.
    """
    recorder, stop = Recorder(), asyncio.Event()
    no_limit = aiohttp.ClientTimeout(total=None)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=no_limit)
        )
        connections = await stack.enter_async_context(Connections(system.gateway_url))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(system.grpc["progress"]))
        stub = ProgressServiceStub(channel)
        (owner, *clients) = await callers(
            system, connections, recorder, prefix="bench_streams_", count=1 + streams // 100
        )
        body = pop_body(f"bench {secrets.token_hex(4)}")
        await owner.call("pop", "POST", "/api/v2/generate/text/pop", body)
        opened = await stack.enter_async_context(open_streams(system, session, clients or [owner], streams))
        leases = [a_lease(system, response.headers["x-horde-request-id"]) for response in opened]
        for lease in leases:
            await stub.OpenLease(lease)
        tasks = [asyncio.create_task(_read(response, recorder)) for response in opened]
        if posts_per_second:
            tasks += [asyncio.create_task(_write(stub, lease, 1 / posts_per_second, stop)) for lease in leases]
        else:
            tasks += [asyncio.create_task(_write_together(stub, leases[lane::LANES], stop)) for lane in range(LANES)]
        await asyncio.sleep(_WARM_UP_SECONDS)
        before, start = cpu_seconds(system.pids), perf_counter()
        recorder.recording = True
        await asyncio.sleep(seconds)
        recorder.recording = False
        elapsed, after = perf_counter() - start, cpu_seconds(system.pids)
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    late = recorder.calls["post to chunk"]
    return Report(
        title=f"{streams} streams",
        unit="chunk",
        rate=len(late) / elapsed,
        seconds=elapsed,
        calls={"post to chunk": late},
        errors=recorder.errors,
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )


async def memory(system: System, *, streams: int) -> dict[str, float]:
    """What the gateway and progress hold with so many open streams: RSS in MB, without and with them."""
    recorder = Recorder()
    before = _resident(system)
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session,
        Connections(system.gateway_url) as connections,
    ):
        owner, *clients = await callers(
            system, connections, recorder, prefix="bench_open_", count=1 + -(-streams // 100)
        )
        await owner.call("pop", "POST", "/api/v2/generate/text/pop", pop_body(f"bench {secrets.token_hex(4)}"))
        async with open_streams(system, session, clients, streams):
            await asyncio.sleep(1.0)
            after = _resident(system)
    return {f"{name} {when}": mb for when, each in (("before", before), ("with", after)) for name, mb in each.items()}


async def _read(response: aiohttp.ClientResponse, recorder: Recorder) -> None:
    """Every stamp that arrives tells how long ago its piece was posted."""
    async for line in response.content:
        for stamp in _stamps(line):
            if recorder.recording:
                recorder.calls["post to chunk"].append(time.time() - stamp)


def _stamps(line: bytes) -> Iterator[float]:
    """The moments in a chunk's text, which may be that of several posts."""
    _, _, rest = line.partition(b'"content":"')
    for piece in rest.split(b"<")[1:]:
        yield int(piece[:_STAMP]) / 1_000_000


async def _write(stub: ProgressServiceStub, lease: OpenLeaseRequest, pause: float, stop: asyncio.Event) -> None:
    """One generation's posts, spread evenly."""
    await asyncio.sleep(secrets.randbelow(1000) / 1000 * pause)
    for seq in itertools.count(1):
        if stop.is_set():
            return
        await stub.AppendProgress(a_post(lease, seq, _stamp()))
        await asyncio.sleep(pause)


async def _write_together(stub: ProgressServiceStub, leases: Sequence[OpenLeaseRequest], stop: asyncio.Event) -> None:
    """A post of each generation in one call, and the next ones when it is answered."""
    for seq in itertools.count(1):
        if stop.is_set() or not leases:
            return
        await stub.AppendTogether(AppendTogetherRequest(posts=[a_post(lease, seq, _stamp()) for lease in leases]))


def _stamp() -> str:
    return f"<{int(time.time() * 1_000_000):0{_STAMP}d}"


def _resident(system: System) -> dict[str, float]:
    """MB of memory that the two processes have in use; Linux only."""
    found = {}
    for name in ("gateway", "progress"):
        for line in Path(f"/proc/{system.pids[name]}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                found[name] = round(int(line.split()[1]) / 1024, 1)
    return found
