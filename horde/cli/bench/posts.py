"""Progress posts at the progress service, and the same script called directly: what the service adds to it.

Both sides judge the same posts of equal leases. What is compared is the CPU of the two processes involved: the service
and Redis, or the caller and Redis.
"""

import asyncio
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import urlsplit, urlunsplit

import grpc

from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.system import System
from horde.contract import limits
from horde.contract.api_keys import hash_api_key, lease_key
from horde.live import Live, Script
from horde.settings import RedisSettings
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceStub

_API_KEY = "benchmark-benchmark-00"
_POSTS_PER_LEASE = 900
_PIECE = "The sea is wide."
_SIGNAL_DATABASE = 7
_WARM_UP_SECONDS = 1.0

LANES = 2
"""Calls a gateway has under way when it sends posts together."""

type Post = Callable[[Sequence[pb.OpenLeaseRequest], int], Awaitable[object]]


@dataclass(frozen=True)
class Way:
    """How posts are made: so many calls at once, each with so many posts."""

    title: str
    post: Post
    calls_at_once: int
    posts_a_call: int


def a_lease(system: System, request_id: str | None = None) -> pb.OpenLeaseRequest:
    """A new lease of a generation that dispatch does not know, long enough for every post of a benchmark."""
    return pb.OpenLeaseRequest(
        generation_id=str(uuid.uuid4()),
        request_id=request_id or str(uuid.uuid4()),
        worker_id=str(uuid.uuid4()),
        model="bench/Bench-7B",
        owner_id=1,
        key=lease_key(hash_api_key(system.secret_key, _API_KEY)),
        max_bytes=1_000_000,
        started=time.time(),
        job_ttl_seconds=600,
        lease_cap_seconds=600,
        trusted=True,
    )


def a_post(lease: pb.OpenLeaseRequest, seq: int, content: str = _PIECE) -> pb.AppendProgressRequest:
    """One post of the lease's worker."""
    return pb.AppendProgressRequest(api_key=_API_KEY, generation_id=lease.generation_id, seq=seq, content=content)


async def compare(system: System, *, seconds: float, posters: int) -> list[Report]:
    """Three reports: posts that go alone, posts that go together as a busy gateway sends them, and the script."""
    parts = urlsplit(system.redis_url)._replace(path=f"/{_SIGNAL_DATABASE}")
    settings = RedisSettings(redis_url=urlunsplit(parts), redis_pool_size=posters)
    async with grpc.aio.insecure_channel(system.grpc["progress"]) as channel, Live.open(settings) as live:
        stub = ProgressServiceStub(channel)
        script = Script(live, "services.progress", "append_progress")

        async def alone(leases: Sequence[pb.OpenLeaseRequest], seq: int) -> None:
            await stub.AppendProgress(a_post(leases[0], seq))

        async def together(leases: Sequence[pb.OpenLeaseRequest], seq: int) -> None:
            await stub.AppendTogether(pb.AppendTogetherRequest(posts=[a_post(lease, seq) for lease in leases]))

        async def directly(leases: Sequence[pb.OpenLeaseRequest], seq: int) -> None:
            lease = leases[0]
            await script(
                keys=[f"horde:chat:lease:{lease.generation_id}"],
                args=[
                    *(lease.key, lease.generation_id, seq, _PIECE, "", f"{time.time():.6f}", 150, 90),
                    *(limits.MAX_CHAT_PROGRESS_ENTRIES, "horde:chat:stream:", 900),
                    *(limits.CHAT_PROGRESS_STREAM_MAX_ENTRIES, "horde:progress:wake:"),
                ],
            )

        theirs = {name: system.pids[name] for name in ("progress", "valkey") if name in system.pids}
        ours = {name: pid for name, pid in theirs.items() if name != "progress"} | {"caller": os.getpid()}
        width = max(1, posters // LANES)
        return [
            await _measure(Way("posts alone", alone, posters, 1), system, stub, theirs, seconds),
            await _measure(Way("posts together", together, LANES, width), system, stub, theirs, seconds),
            await _measure(Way("the script alone", directly, posters, 1), system, stub, ours, seconds),
        ]


async def _measure(
    way: Way, system: System, stub: ProgressServiceStub, pids: Mapping[str, int], seconds: float
) -> Report:
    recorder, stop = Recorder(), asyncio.Event()

    async def caller() -> None:
        while not stop.is_set():
            leases = [a_lease(system) for _ in range(way.posts_a_call)]
            for lease in leases:
                await stub.OpenLease(lease)
            for seq in range(1, _POSTS_PER_LEASE + 1):
                if stop.is_set():
                    return
                with recorder.timed("call"):
                    await way.post(leases, seq)

    tasks = [asyncio.create_task(caller()) for _ in range(way.calls_at_once)]
    await asyncio.sleep(_WARM_UP_SECONDS)
    before, start = cpu_seconds(pids), perf_counter()
    recorder.recording = True
    await asyncio.sleep(seconds)
    recorder.recording = False
    elapsed, after = perf_counter() - start, cpu_seconds(pids)
    stop.set()
    await asyncio.gather(*tasks)
    return Report(
        title=f"{way.title}, {way.calls_at_once} calls at once with {way.posts_a_call} posts each",
        unit="post",
        rate=len(recorder.calls["call"]) * way.posts_a_call / elapsed,
        seconds=elapsed,
        calls=recorder.calls,
        errors=recorder.errors,
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )
