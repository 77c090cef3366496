"""The RPCs of dispatch: one line each, from the wire to the handler and back."""

from typing import Any

import grpc

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceServicer
from services.dispatch.deps import Deps
from services.dispatch.handlers.cancel_request import cancel_request
from services.dispatch.handlers.claim_jobs import claim_jobs
from services.dispatch.handlers.get_generation_state import get_generation_state
from services.dispatch.handlers.get_performance import get_performance
from services.dispatch.handlers.get_status import get_status
from services.dispatch.handlers.list_models import list_models
from services.dispatch.handlers.renew_lease import renew_lease
from services.dispatch.handlers.submit_fault import submit_fault
from services.dispatch.handlers.submit_result import submit_result
from services.dispatch.wire import fleet, pop, status, submit

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
