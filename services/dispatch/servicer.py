"""The RPCs of dispatch: one line each, from the wire to the handler and back."""

from typing import Any

import grpc

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import statistics_pb2 as statistics_pb
from horde_pb.dispatch.v1 import worker_messages_pb2 as messages_pb
from horde_pb.dispatch.v1 import worker_review_pb2 as review_pb
from horde_pb.dispatch.v1 import worker_routes_pb2 as routes
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
from services.dispatch.deps import Deps
from services.dispatch.handlers.cancel_request import cancel_request
from services.dispatch.handlers.claim_jobs import claim_jobs
from services.dispatch.handlers.create_worker_message import create_worker_message
from services.dispatch.handlers.delete_worker import delete_worker
from services.dispatch.handlers.delete_worker_message import delete_worker_message
from services.dispatch.handlers.get_generation_state import get_generation_state
from services.dispatch.handlers.get_performance import get_performance
from services.dispatch.handlers.get_status import get_status
from services.dispatch.handlers.get_text_statistics import get_text_statistics
from services.dispatch.handlers.get_worker import get_worker
from services.dispatch.handlers.get_worker_message import get_worker_message
from services.dispatch.handlers.give_jobs_back import give_jobs_back
from services.dispatch.handlers.list_models import list_models
from services.dispatch.handlers.list_paused_workers import list_paused_workers
from services.dispatch.handlers.list_worker_messages import list_worker_messages
from services.dispatch.handlers.list_workers import list_workers
from services.dispatch.handlers.renew_lease import renew_lease
from services.dispatch.handlers.submit_fault import submit_fault
from services.dispatch.handlers.submit_result import submit_result
from services.dispatch.handlers.update_worker import update_worker
from services.dispatch.wire import fleet, messages, pop, review, status, submit, workers

type Context = grpc.aio.ServicerContext[Any, Any]


class DispatchServicer(DispatchServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def ClaimJobs(self, request: pb.ClaimJobsRequest, context: Context) -> pb.ClaimJobsResponse:
        return pop.answer(await claim_jobs(pop.ask(request), self._deps))

    async def ListModels(self, request: pb.ListModelsRequest, context: Context) -> pb.ListModelsResponse:
        return fleet.models(await list_models(self._deps, chat=request.chat))

    async def GetPerformance(self, request: pb.GetPerformanceRequest, context: Context) -> pb.GetPerformanceResponse:
        return fleet.performance(await get_performance(self._deps))

    async def SubmitResult(self, request: pb.SubmitResultRequest, context: Context) -> pb.SubmitResultResponse:
        return submit.reward(await submit_result(submit.reply_ask(request), self._deps))

    async def SubmitFault(self, request: pb.SubmitFaultRequest, context: Context) -> pb.SubmitFaultResponse:
        await submit_fault(submit.fault_ask(request), self._deps)
        return pb.SubmitFaultResponse()

    async def GetStatus(self, request: pb.GetStatusRequest, context: Context) -> pb.GetStatusResponse:
        found = await get_status(request.request_id, self._deps, chat=status.is_chat(request.family))
        return pb.GetStatusResponse(status=status.answer(found))

    async def CancelRequest(self, request: pb.CancelRequestRequest, context: Context) -> pb.CancelRequestResponse:
        found = await cancel_request(request.request_id, self._deps, chat=status.is_chat(request.family))
        return pb.CancelRequestResponse(status=status.answer(found))

    async def RenewLease(self, request: pb.RenewLeaseRequest, context: Context) -> pb.RenewLeaseResponse:
        renewed = await renew_lease(request.generation_id, request.job_ttl_seconds, self._deps)
        return pb.RenewLeaseResponse(renewed=renewed)

    async def GetGenerationState(
        self, request: pb.GetGenerationStateRequest, context: Context
    ) -> pb.GetGenerationStateResponse:
        state = await get_generation_state(request.generation_id, self._deps)
        return pb.GetGenerationStateResponse(state=status.generation_state(state))


class WorkersServicer(WorkersServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def GiveJobsBack(self, request: routes.GiveJobsBackRequest, context: Context) -> routes.GiveJobsBackResponse:
        await give_jobs_back(request.caller.api_key, request.claim_id, self._deps)
        return routes.GiveJobsBackResponse()

    async def ListWorkers(self, request: routes.ListWorkersRequest, context: Context) -> routes.ListWorkersResponse:
        name = request.name if request.HasField("name") else None
        return workers.listed(await list_workers(request.caller.api_key, name, self._deps))

    async def GetWorker(self, request: routes.GetWorkerRequest, context: Context) -> routes.GetWorkerResponse:
        by_name = request.HasField("name")
        wanted = request.name if by_name else request.id
        return workers.one(await get_worker(request.caller.api_key, wanted, self._deps, by_name=by_name))

    async def UpdateWorker(self, request: routes.UpdateWorkerRequest, context: Context) -> routes.UpdateWorkerResponse:
        asked = workers.change(request)
        return workers.changed(await update_worker(request.caller.api_key, request.worker_id, asked, self._deps))

    async def DeleteWorker(self, request: routes.DeleteWorkerRequest, context: Context) -> routes.DeleteWorkerResponse:
        return workers.deleted(await delete_worker(request.caller.api_key, request.worker_id, self._deps))


class WorkerMessagesServicer(WorkerMessagesServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def ListWorkerMessages(
        self, request: messages_pb.ListWorkerMessagesRequest, context: Context
    ) -> messages_pb.ListWorkerMessagesResponse:
        found = await list_worker_messages(request.caller.api_key, messages.query(request), self._deps)
        return messages_pb.ListWorkerMessagesResponse(messages=messages.told(found))

    async def CreateWorkerMessage(
        self, request: messages_pb.CreateWorkerMessageRequest, context: Context
    ) -> messages_pb.CreateWorkerMessageResponse:
        made = await create_worker_message(request.caller.api_key, messages.ask(request), self._deps)
        return messages_pb.CreateWorkerMessageResponse(message=messages.one(made))

    async def GetWorkerMessage(
        self, request: messages_pb.GetWorkerMessageRequest, context: Context
    ) -> messages_pb.GetWorkerMessageResponse:
        found = await get_worker_message(request.message_id, self._deps)
        return messages_pb.GetWorkerMessageResponse(message=messages.one(found))

    async def DeleteWorkerMessage(
        self, request: messages_pb.DeleteWorkerMessageRequest, context: Context
    ) -> messages_pb.DeleteWorkerMessageResponse:
        await delete_worker_message(request.caller.api_key, request.message_id, self._deps)
        return messages_pb.DeleteWorkerMessageResponse()


class WorkerReviewServicer(WorkerReviewServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def ListPausedWorkers(
        self, request: review_pb.ListPausedWorkersRequest, context: Context
    ) -> review_pb.ListPausedWorkersResponse:
        return review.answer(*await list_paused_workers(review.query(request), self._deps))


class StatisticsServicer(StatisticsServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def GetTextStatistics(
        self, request: statistics_pb.GetTextStatisticsRequest, context: Context
    ) -> statistics_pb.GetTextStatisticsResponse:
        return fleet.text_statistics(await get_text_statistics(self._deps))


def add_to(server: grpc.aio.Server, deps: Deps) -> None:
    """Every service of this process."""
    add_DispatchServiceServicer_to_server(DispatchServicer(deps), server)
    add_WorkersServiceServicer_to_server(WorkersServicer(deps), server)
    add_WorkerMessagesServiceServicer_to_server(WorkerMessagesServicer(deps), server)
    add_WorkerReviewServiceServicer_to_server(WorkerReviewServicer(deps), server)
    add_StatisticsServiceServicer_to_server(StatisticsServicer(deps), server)
