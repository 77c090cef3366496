"""A real progress service in this process, on a real Valkey, beside a fake dispatch."""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import grpc
import pytest

from horde.contract.api_keys import hash_api_key, lease_key
from horde.contract.refusal import Refusal
from horde.live import Live
from horde.live.addresses import connections
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings
from horde.settings import LeaseSettings, ProgressSettings, RedisSettings
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import add_DispatchServiceServicer_to_server
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceStub
from horde_pb.progress.v1.watching_service_pb2_grpc import WatchingServiceStub
from services.progress.deps import Deps
from services.progress.live.keys import on_signal_database
from services.progress.live.leases import Leases
from services.progress.live.watching import Watching
from services.progress.neighbours import Dispatch
from services.progress.servicer import add_to
from tests.fakes.clock import FakeClock
from tests.fakes.dispatch_leases import FakeDispatchLeases

SECRET = "a secret"
API_KEY = "k" * 22
STARTED = datetime(2026, 11, 30, 12, 0, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Progress:
    """The service as its callers see it, and what stands around it."""

    stub: ProgressServiceStub
    lines: WatchingServiceStub
    dispatch: FakeDispatchLeases
    redis: Any  # redis-py's own types cannot say what it answers in bytes
    clock: FakeClock
    watching: Watching
    watcher: Neighbour

    async def refusal(self, call: Any) -> Refusal:
        """The refusal that a call ends with."""

        async def again(_: None, **_options: Any) -> Any:
            return await call

        with pytest.raises(Refusal) as refused:
            await self.watcher._attempt(cast("Any", again))(None, 5.0)
        return refused.value


def a_lease(**changed: Any) -> pb.OpenLeaseRequest:
    """A lease of an untrusted worker's generation, as dispatch asks for it."""
    written: dict[str, Any] = {
        "generation_id": str(uuid.uuid4()),
        "request_id": str(uuid.uuid4()),
        "worker_id": str(uuid.uuid4()),
        "model": "a model",
        "owner_id": 7,
        "key": lease_key(hash_api_key(SECRET, API_KEY)),
        "max_bytes": 16 * 512,
        "started": STARTED,
        "job_ttl_seconds": 150,
        "lease_cap_seconds": 200,
    }
    return pb.OpenLeaseRequest(**{**written, **changed})


def a_post(lease: pb.OpenLeaseRequest, seq: int, content: str = "", **changed: Any) -> pb.AppendProgressRequest:
    """One post of the lease's worker."""
    written: dict[str, Any] = {"api_key": API_KEY, "generation_id": lease.generation_id, "seq": seq, "content": content}
    return pb.AppendProgressRequest(**{**written, **changed})


@asynccontextmanager
async def serving(
    redis_url: str, *, pool_size: int = 8, subscribe_seconds: float = 5.0, socket_seconds: float = 2.0
) -> AsyncIterator[Progress]:
    """The service, until the block ends."""
    async with AsyncExitStack() as stack:
        dispatch = FakeDispatchLeases.new()
        settings = on_signal_database(
            RedisSettings(redis_url=redis_url, redis_pool_size=pool_size, redis_timeout_seconds=socket_seconds)
        )
        live = await stack.enter_async_context(Live.open(settings))
        watching = await stack.enter_async_context(Watching.open(live, settings, subscribe_seconds=subscribe_seconds))
        clock = FakeClock()
        server = grpc.aio.server()
        port = server.add_insecure_port("127.0.0.1:0")
        neighbour = Neighbour(f"127.0.0.1:{port}", name="progress")
        to_dispatch = Neighbour(f"127.0.0.1:{port}", name="dispatch")
        deps = Deps(clock, Leases(live, LeaseSettings(), ProgressSettings()), watching, Dispatch(to_dispatch), SECRET)
        registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("progress")))
        add_to(registrar, deps)
        add_DispatchServiceServicer_to_server(dispatch, server)
        await server.start()
        stack.push_async_callback(server.stop, 0)
        stack.push_async_callback(neighbour.close)
        stack.push_async_callback(to_dispatch.close)
        redis = await stack.enter_async_context(connections(settings.redis_url, most=1, wait_seconds=5))
        stub, lines = ProgressServiceStub(neighbour.channel), WatchingServiceStub(neighbour.channel)
        yield Progress(stub, lines, dispatch, redis, clock, watching, neighbour)


def request_of(*leases: pb.OpenLeaseRequest) -> pb.CancelLeasesRequest:
    """The cancel of the request that these leases belong to."""
    return pb.CancelLeasesRequest(
        request_id=leases[0].request_id, generation_ids=[lease.generation_id for lease in leases]
    )
