"""The four services the gateway calls, in one gRPC server that answers what a test put on its desk."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from horde.rpc import options
from horde.rpc.handling import Registrar, Surroundings
from horde_pb.admission.v1.accounts_service_pb2_grpc import (
    AccountsServiceServicer,
    add_AccountsServiceServicer_to_server,
)
from horde_pb.admission.v1.admission_service_pb2_grpc import (
    AdmissionServiceServicer,
    add_AdmissionServiceServicer_to_server,
)
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import (
    DispatchServiceServicer,
    add_DispatchServiceServicer_to_server,
)
from horde_pb.dispatch.v1.statistics_pb2_grpc import StatisticsServiceServicer, add_StatisticsServiceServicer_to_server
from horde_pb.dispatch.v1.worker_messages_pb2_grpc import (
    WorkerMessagesServiceServicer,
    add_WorkerMessagesServiceServicer_to_server,
)
from horde_pb.dispatch.v1.worker_review_pb2_grpc import (
    WorkerReviewServiceServicer,
    add_WorkerReviewServiceServicer_to_server,
)
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceServicer, add_WorkersServiceServicer_to_server
from horde_pb.moderation.v1.addresses_pb2_grpc import AddressesServiceServicer, add_AddressesServiceServicer_to_server
from horde_pb.moderation.v1.filters_pb2_grpc import FiltersServiceServicer, add_FiltersServiceServicer_to_server
from horde_pb.moderation.v1.moderation_service_pb2_grpc import (
    ModerationServiceServicer,
    add_ModerationServiceServicer_to_server,
)
from horde_pb.moderation.v1.review_service_pb2_grpc import ReviewServiceServicer, add_ReviewServiceServicer_to_server
from horde_pb.progress.v1 import progress_service_pb2, watching_service_pb2
from horde_pb.progress.v1.progress_service_pb2_grpc import (
    ProgressServiceServicer,
    add_ProgressServiceServicer_to_server,
)
from horde_pb.progress.v1.watching_service_pb2_grpc import (
    WatchingServiceServicer,
    add_WatchingServiceServicer_to_server,
)

type Given = Message | Exception | Callable[[Any], Message | Awaitable[Message]]


@dataclass
class Desk:
    """`answers` by the name of the RPC: a message, an error to raise, or a function of the request, which may wait.

    `asked` holds every request in order. `streams` holds the messages of a stream; after the last it stays open.
    """

    answers: dict[str, Given] = field(default_factory=dict)
    streams: dict[str, Iterable[Message]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def last(self, name: str) -> Any:
        """The last request of one RPC. Raises IndexError when it was never asked."""
        return [request for asked, request in self.asked if asked == name][-1]

    async def answer(self, name: str, request: Message) -> Message:
        """What was put on the desk for this RPC."""
        self.asked.append((name, request))
        given = self.answers[name]
        if isinstance(given, Exception):
            raise given
        if isinstance(given, Message):
            return given
        made = given(request)
        return made if isinstance(made, Message) else await made

    async def stream(self, name: str, request: Message) -> AsyncIterator[Message]:
        """The messages put on the desk, then nothing for as long as the caller listens."""
        self.asked.append((name, request))
        for message in self.streams.get(name, ()):
            yield message
        await asyncio.Event().wait()


class _Admission(AdmissionServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def AdmitChat(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("AdmitChat", request)

    async def AdmitText(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("AdmitText", request)

    async def GetTextSubmission(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetTextSubmission", request)

    async def FindAccount(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("FindAccount", request)

    async def ListProxyPasskeys(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListProxyPasskeys", request)

    async def GetKudosFlow(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetKudosFlow", request)


class _Dispatch(DispatchServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ClaimJobs(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ClaimJobs", request)

    async def SubmitResult(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("SubmitResult", request)

    async def SubmitFault(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("SubmitFault", request)

    async def GetStatus(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetStatus", request)

    async def CancelRequest(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("CancelRequest", request)

    async def ListModels(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListModels", request)

    async def GetPerformance(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetPerformance", request)


class _Workers(WorkersServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def GiveJobsBack(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GiveJobsBack", request)

    async def ListWorkers(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListWorkers", request)

    async def GetWorker(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetWorker", request)

    async def UpdateWorker(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("UpdateWorker", request)

    async def DeleteWorker(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("DeleteWorker", request)


class _WorkerMessages(WorkerMessagesServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListWorkerMessages(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListWorkerMessages", request)

    async def CreateWorkerMessage(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("CreateWorkerMessage", request)

    async def GetWorkerMessage(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetWorkerMessage", request)

    async def DeleteWorkerMessage(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("DeleteWorkerMessage", request)


class _Progress(ProgressServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def AppendTogether(self, request: Any, context: Any) -> Any:
        answers = [await self._desk.answer("AppendProgress", post) for post in request.posts]
        return progress_service_pb2.AppendTogetherResponse(
            answers=[progress_service_pb2.Appended(accepted=cast("Any", answer)) for answer in answers]
        )

    async def AppendProgress(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("AppendProgress", request)


class _Watching(WatchingServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def WatchRequests(self, request_iterator: Any, context: Any) -> AsyncIterator[Any]:
        """Each watch is one stream on the desk, as if it had been asked for alone."""
        told: asyncio.Queue[Message] = asyncio.Queue()
        watches: dict[int, asyncio.Task[None]] = {}

        async def watch(number: int, request_id: str) -> None:
            ask = progress_service_pb2.WatchRequestRequest(request_id=request_id)
            try:
                async for event in self._desk.stream("WatchRequest", ask):
                    await told.put(watching_service_pb2.Watched(watch=number, event=cast("Any", event)))
            except Exception as error:  # noqa: BLE001 - a stream on the desk may hold an error
                await told.put(watching_service_pb2.Watched(watch=number, failed=str(error)))

        async def follow() -> None:
            async for change in request_iterator:
                for one in change.begin:
                    watches[one.watch] = asyncio.create_task(watch(one.watch, one.request_id))
                for number in change.end:
                    watches.pop(number).cancel()

        following = asyncio.create_task(follow())
        try:
            while True:
                yield watching_service_pb2.WatchRequestsResponse(watched=[cast("Any", await told.get())])
        finally:
            for task in (following, *watches.values()):
                task.cancel()


class _Moderation(ModerationServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def GetModes(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetModes", request)

    async def SetModes(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("SetModes", request)


class _AccountsCalls(AccountsServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def GetAccount(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetAccount", request)

    async def ListAccounts(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListAccounts", request)

    async def UpdateAccount(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("UpdateAccount", request)

    async def DeleteAccount(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("DeleteAccount", request)

    async def CreateSharedKey(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("CreateSharedKey", request)

    async def GetSharedKey(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetSharedKey", request)

    async def UpdateSharedKey(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("UpdateSharedKey", request)

    async def DeleteSharedKey(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("DeleteSharedKey", request)

    async def TransferKudos(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("TransferKudos", request)

    async def AwardKudos(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("AwardKudos", request)

    async def GetUsage(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetUsage", request)

    async def MakeTestAccount(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("MakeTestAccount", request)

    async def ListPromotions(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListPromotions", request)


class _ReviewCalls(ReviewServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListEvents(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListEvents", request)

    async def AddNote(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("AddNote", request)

    async def MarkEvent(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("MarkEvent", request)

    async def ListSuspicionHistory(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListSuspicionHistory", request)

    async def ListAccesses(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListAccesses", request)

    async def GetRetentionPolicy(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("GetRetentionPolicy", request)

    async def PreviewRetention(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("PreviewRetention", request)


class _WorkerReviewCalls(WorkerReviewServiceServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListPausedWorkers(self, request: Any, context: Any) -> Any:
        return await self._desk.answer("ListPausedWorkers", request)


@asynccontextmanager
async def fake_services(desk: Desk) -> AsyncIterator[str]:
    """Serves the desk, and health, while the block runs; gives the one target of all four services."""
    server = grpc.aio.server(options=options.SERVER)
    registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("fake")))
    add_AdmissionServiceServicer_to_server(_new(_Admission, desk), registrar)
    add_DispatchServiceServicer_to_server(_new(_Dispatch, desk), registrar)
    add_WorkersServiceServicer_to_server(_new(_Workers, desk), registrar)
    add_WorkerMessagesServiceServicer_to_server(_new(_WorkerMessages, desk), registrar)
    add_ProgressServiceServicer_to_server(_new(_Progress, desk), registrar)
    add_WatchingServiceServicer_to_server(_new(_Watching, desk), registrar)
    add_ModerationServiceServicer_to_server(_new(_Moderation, desk), registrar)
    add_FiltersServiceServicer_to_server(_on_desk(FiltersServiceServicer, desk), registrar)
    add_AddressesServiceServicer_to_server(_on_desk(AddressesServiceServicer, desk), registrar)
    add_AccountsServiceServicer_to_server(_new(_AccountsCalls, desk), registrar)
    add_ReviewServiceServicer_to_server(_new(_ReviewCalls, desk), registrar)
    add_WorkerReviewServiceServicer_to_server(_new(_WorkerReviewCalls, desk), registrar)
    add_StatisticsServiceServicer_to_server(_on_desk(StatisticsServiceServicer, desk), registrar)
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    await checks.set("", health_pb2.HealthCheckResponse.SERVING)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


def _on_desk(servicer: type, desk: Desk) -> Any:
    """A servicer that answers every unary RPC of its kind with what is on the desk."""

    def answering(name: str) -> Any:
        async def answer(*call: Any) -> Any:
            _, request, _ = call
            return await desk.answer(name, request)

        return answer

    answers = {name: answering(name) for name in vars(servicer) if name[0].isupper()}
    return type(servicer.__name__, (servicer,), answers)()


def _new[T](cls: Callable[[Desk], T], desk: Desk) -> T:
    """One servicer. The RPCs that the gateway never calls answer UNIMPLEMENTED, so the class is abstract on paper."""
    made: T = cast("Any", cls)(desk)
    return made
