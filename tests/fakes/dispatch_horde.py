"""Dispatch and progress in this process, on a real Postgres and a real Valkey, around one clock that a test moves."""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import asyncpg
import grpc

from horde.live import Live
from horde.public_web import PublicWeb
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings
from horde.settings import LeaseSettings, NeighbourSettings, ProgressSettings, RedisSettings
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from horde_pb.media.v1.media_service_pb2_grpc import add_MediaServiceServicer_to_server
from horde_pb.moderation.v1.moderation_service_pb2_grpc import add_ModerationServiceServicer_to_server
from horde_pb.moderation.v1.reports_service_pb2_grpc import add_ReportsServiceServicer_to_server
from horde_pb.progress.v1 import progress_service_pb2 as progress_pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceStub, add_ProgressServiceServicer_to_server
from services.dispatch.addresses import Addresses
from services.dispatch.aftermath import Aftermath
from services.dispatch.deps import Deps
from services.dispatch.neighbours import Neighbours
from services.dispatch.servicer import add_to
from services.dispatch.settings import DispatchSettings
from services.dispatch.webhooks import Webhooks
from services.progress.deps import Deps as ProgressDeps
from services.progress.live.keys import on_signal_database
from services.progress.live.leases import Leases
from services.progress.live.watching import Watching
from services.progress.neighbours import Dispatch as ToDispatch
from services.progress.servicer import ProgressServicer
from tests.fakes.clock import FakeClock
from tests.fakes.dispatch_pops import read_by_a_worker
from tests.fakes.dispatch_scene import SECRET, Account, Scene
from tests.fakes.dispatch_service import Dispatch, FixedReference
from tests.fakes.media import FakeMedia
from tests.fakes.moderation import FakeModeration
from tests.fakes.reports import FakeReports
from tests.servers import Database

_DEADLINE = timedelta(seconds=20)


@dataclass(frozen=True)
class Horde:
    """Dispatch as its callers see it, and the posts of workers beside it. A refused call raises its Refusal."""

    dispatch: Dispatch
    progress: ProgressServiceStub

    async def pop(self, request: pb.ClaimJobsRequest) -> pb.ClaimJobsResponse:
        """A worker asks for work."""
        claim = self.dispatch.caller.once(self.dispatch.stub.ClaimJobs, deadline=_DEADLINE)
        return read_by_a_worker(await claim(request))

    async def post(self, generation: uuid.UUID, owner: Account, seq: int, text: str) -> bool:
        """A worker tells what it has generated; whether its request was cancelled."""
        ask = progress_pb.AppendProgressRequest(api_key=owner.key, generation_id=str(generation), seq=seq, content=text)
        call = self.dispatch.caller.once(self.progress.AppendProgress, deadline=_DEADLINE)
        return (await call(ask)).cancelled


@asynccontextmanager
async def serving(database: Database, redis_url: str, **settings: Any) -> AsyncIterator[Horde]:
    """Both services, until the block ends. The clock begins now, since some statements ask Postgres for the time."""
    async with AsyncExitStack() as stack:
        server = grpc.aio.server()
        here = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        clock = FakeClock(datetime.now(UTC).replace(microsecond=0))
        deps = await _dispatch(stack, database, here, clock, settings)
        signals = on_signal_database(RedisSettings(redis_url=redis_url))
        live = await stack.enter_async_context(Live.open(signals))
        watching = await stack.enter_async_context(Watching.open(live, signals))
        to_dispatch = Neighbour(here, name="dispatch")
        leases = Leases(live, LeaseSettings(), ProgressSettings())
        progress = ProgressServicer(ProgressDeps(clock, leases, watching, ToDispatch(to_dispatch), SECRET))
        media, reports = FakeMedia.new(), FakeReports.new()
        registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("dispatch")))
        add_to(registrar, deps)
        add_ProgressServiceServicer_to_server(progress, registrar)
        add_MediaServiceServicer_to_server(media, server)
        add_ReportsServiceServicer_to_server(reports, server)
        add_ModerationServiceServicer_to_server(FakeModeration.new(), server)
        await server.start()
        caller = Neighbour(here, name="dispatch")
        connection = await asyncpg.connect(database.url)
        stack.push_async_callback(connection.close)
        stack.push_async_callback(server.stop, 0)
        stack.push_async_callback(caller.close)
        stack.push_async_callback(to_dispatch.close)
        stack.push_async_callback(deps.neighbours.close)
        stack.push_async_callback(deps.jail.close)
        stack.push_async_callback(deps.aftermath.drain, 1.0)
        scene = Scene(connection, clock.now())
        stub = DispatchServiceStub(caller.channel)
        seen = Dispatch(deps, scene, clock, cast("Any", None), cast("Any", media), reports, caller, stub)
        yield Horde(seen, ProgressServiceStub(caller.channel))


async def _dispatch(
    stack: AsyncExitStack, database: Database, here: str, clock: FakeClock, settings: dict[str, Any]
) -> Deps:
    targets = NeighbourSettings(progress_target=here, media_target=here, moderation_target=here)
    neighbours = Neighbours(targets)
    aftermath = Aftermath()
    aftermath.start()
    return Deps(
        store=await stack.enter_async_context(database.store("horde_dispatch", pool_size=4)),
        clock=clock,
        settings=DispatchSettings(database_url=database.url, secret_key=SECRET, **settings),
        neighbours=neighbours,
        addresses=Addresses(neighbours, clock),
        reference=FixedReference(),
        aftermath=aftermath,
        webhooks=Webhooks(PublicWeb(())),
    )
