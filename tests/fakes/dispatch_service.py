"""A real dispatch service in this process, on a real Postgres, beside fake neighbours."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import asyncpg
import grpc

from horde.contract.models import ModelReference
from horde.public_web import PublicWeb
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings
from horde.settings import NeighbourSettings
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import status_pb2
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from horde_pb.media.v1.media_service_pb2_grpc import add_MediaServiceServicer_to_server
from horde_pb.moderation.v1.reports_service_pb2_grpc import add_ReportsServiceServicer_to_server
from horde_pb.progress.v1.progress_service_pb2_grpc import add_ProgressServiceServicer_to_server
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.addresses import Addresses
from services.dispatch.aftermath import Aftermath
from services.dispatch.deps import Deps
from services.dispatch.neighbours import Neighbours
from services.dispatch.servicer import add_to
from services.dispatch.settings import DispatchSettings
from services.dispatch.webhooks import Webhooks
from tests.fakes.clock import FakeClock
from tests.fakes.dispatch_neighbours import FakeMedia, FakeProgress
from tests.fakes.dispatch_scene import MODEL, NOW, SECRET, Account, Scene
from tests.fakes.reports import FakeReports
from tests.servers import Database

DEADLINE = timedelta(seconds=20)


class FixedReference:
    """Knows one model of 13 billion parameters."""

    current = ModelReference({MODEL: {"parameters": 13_000_000_000}})


@dataclass(frozen=True)
class Dispatch:
    """The service as its callers see it, and what stands around it. A refused call raises its Refusal."""

    deps: Deps
    scene: Scene
    clock: FakeClock
    progress: FakeProgress
    media: FakeMedia
    reports: FakeReports
    caller: Neighbour
    stub: DispatchServiceStub

    async def reply(
        self, generation: uuid.UUID | str, owner: Account, message: object = None, /, **changed: Any
    ) -> int:
        """Hands a chat reply in; the reward in hundredths."""
        counts = changed.pop("counts", None)
        said = {"role": "assistant", "content": "Red, green and blue."} if message is None else message
        written: dict[str, Any] = {
            "caller": Caller(api_key=owner.key),
            "generation_id": str(generation),
            "state": "ok",
            "message": json.dumps(said).encode(),
            "finish_reason": "stop",
            "model_id": MODEL,
            "chat": True,
            "counts": b"" if counts is None else json.dumps(counts).encode(),
            **changed,
        }
        request = pb.SubmitResultRequest(**{key: value for key, value in written.items() if value is not None})
        answer = await self.caller.once(self.stub.SubmitResult, deadline=DEADLINE)(request)
        return answer.reward_hundredths

    async def text(self, generation: uuid.UUID, owner: Account, text: str, **changed: Any) -> int:
        """Hands a text reply in; the reward in hundredths."""
        plain: dict[str, Any] = {"message": None, "finish_reason": None, "model_id": None, "chat": False}
        request = pb.SubmitResultRequest(
            caller=Caller(api_key=owner.key),
            generation_id=str(generation),
            generation=text,
            **{key: value for key, value in {**plain, **changed}.items() if value is not None},
        )
        return (await self.caller.once(self.stub.SubmitResult, deadline=DEADLINE)(request)).reward_hundredths

    async def fault(self, generation: uuid.UUID | str, owner: Account, reason: str = "", *, chat: bool = True) -> None:
        """Gives a job up."""
        request = pb.SubmitFaultRequest(
            caller=Caller(api_key=owner.key), generation_id=str(generation), fault_reason=reason, chat=chat
        )
        await self.caller.once(self.stub.SubmitFault, deadline=DEADLINE)(request)

    async def status(self, request: uuid.UUID | str, *, chat: bool = True) -> status_pb2.RequestStatus:
        """How a request stands."""
        ask = pb.GetStatusRequest(request_id=str(request), family=_family(chat))
        return (await self.caller.once(self.stub.GetStatus, deadline=DEADLINE)(ask)).status

    async def cancel(self, request: uuid.UUID | str, *, chat: bool = True) -> status_pb2.RequestStatus:
        """Cancels a request."""
        ask = pb.CancelRequestRequest(request_id=str(request), family=_family(chat))
        return (await self.caller.once(self.stub.CancelRequest, deadline=DEADLINE)(ask)).status

    async def renew(self, generation: uuid.UUID | str, seconds: int) -> bool:
        """Lengthens a lease, as progress does."""
        ask = pb.RenewLeaseRequest(generation_id=str(generation), job_ttl_seconds=seconds)
        return (await self.caller.once(self.stub.RenewLease, deadline=DEADLINE)(ask)).renewed

    async def state(self, generation: uuid.UUID | str) -> str:
        """How a generation stands, as progress asks it."""
        ask = pb.GetGenerationStateRequest(generation_id=str(generation))
        answer = await self.caller.once(self.stub.GetGenerationState, deadline=DEADLINE)(ask)
        return pb.GenerationState.Name(answer.state)

    async def called(self) -> None:
        """Returns when no webhook waits to be called and none is being called."""
        await asyncio.wait_for(self.deps.webhooks._calls._queue.join(), 20)

    async def settled(self) -> None:
        """Returns when what follows the commits so far was done."""
        await asyncio.wait_for(self.deps.aftermath._queue.join(), 10)


def _family(chat: bool) -> pb.RequestFamily.ValueType:
    return pb.REQUEST_FAMILY_CHAT if chat else pb.REQUEST_FAMILY_TEXT


@asynccontextmanager
async def serving(database: Database, web: PublicWeb | None = None, **settings: Any) -> AsyncIterator[Dispatch]:
    """The service, until the block ends. `web`: where it finds webhooks; the real one unless a test brings its own."""
    async with AsyncExitStack() as stack:
        server = grpc.aio.server()
        port = server.add_insecure_port("127.0.0.1:0")
        here = f"127.0.0.1:{port}"
        targets = NeighbourSettings(progress_target=here, media_target=here, moderation_target=here)
        neighbours = Neighbours(targets)
        store = await stack.enter_async_context(database.store("horde_dispatch", pool_size=8))
        clock = FakeClock(NOW)
        aftermath = Aftermath()
        aftermath.start()
        webhooks = Webhooks(PublicWeb(()) if web is None else web)
        webhooks.start()
        deps = Deps(
            store=store,
            clock=clock,
            settings=DispatchSettings(database_url=database.url, secret_key=SECRET, **settings),
            neighbours=neighbours,
            addresses=Addresses(neighbours, clock),
            reference=FixedReference(),
            aftermath=aftermath,
            webhooks=webhooks,
        )
        progress, media, reports = FakeProgress.new(), FakeMedia.new(), FakeReports.new()
        registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("dispatch")))
        add_to(registrar, deps)
        add_ProgressServiceServicer_to_server(progress, server)
        add_MediaServiceServicer_to_server(media, server)
        add_ReportsServiceServicer_to_server(reports, server)
        await server.start()
        caller = Neighbour(here, name="dispatch")
        connection = await asyncpg.connect(database.url)
        stack.push_async_callback(connection.close)
        stack.push_async_callback(server.stop, 0)
        stack.push_async_callback(caller.close)
        stack.push_async_callback(neighbours.close)
        stack.push_async_callback(deps.jail.close)
        stack.push_async_callback(aftermath.drain, 1.0)
        stack.push_async_callback(webhooks.drain, 0.0)
        stub = DispatchServiceStub(caller.channel)
        yield Dispatch(deps, Scene(connection), clock, progress, media, reports, caller, stub)
