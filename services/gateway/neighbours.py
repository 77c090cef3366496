"""The services as the gateway sees them: which call may be repeated, and how long each may take.

Deadlines are those of a caller that waits at a socket: long enough for the slowest honest answer, short enough that a
dead service is noticed. A submit with images fetches them first, hence its minute.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from horde.clock import SystemClock
from horde.contract.limits import MAX_WAIT_SECONDS
from horde.rpc.client import Neighbour
from horde.rpc.probes import Check
from horde.settings import NeighbourSettings
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.admission.v1 import admission_service_pb2_grpc as admission_grpc
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import dispatch_service_pb2_grpc as dispatch_grpc
from horde_pb.dispatch.v1 import statistics_pb2 as statistics
from horde_pb.dispatch.v1 import (
    statistics_pb2_grpc,
    worker_messages_pb2,
    worker_messages_pb2_grpc,
    worker_routes_pb2,
    worker_routes_pb2_grpc,
)
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation
from horde_pb.moderation.v1 import moderation_service_pb2_grpc as moderation_grpc
from horde_pb.progress.v1 import progress_service_pb2 as progress
from horde_pb.progress.v1 import progress_service_pb2_grpc as progress_grpc
from horde_pb.progress.v1 import watching_service_pb2_grpc
from services.gateway.account_calls import AccountCalls, account_calls
from services.gateway.operation_calls import OperationCalls, operation_calls
from services.gateway.posting import Posting
from services.gateway.review_calls import ReviewCalls, review_calls
from services.gateway.watching import Watching

_READ = timedelta(seconds=5)
_WRITE = timedelta(seconds=15)
_ADMIT = timedelta(seconds=60)
_HEALTH = timedelta(seconds=1)

type Models = dispatch.ListModelsResponse
type Workers = worker_routes_pb2.ListWorkersResponse
type KudosFlow = admission.GetKudosFlowResponse
type Modes = moderation.GetModesResponse
type Performance = dispatch.GetPerformanceResponse
type TextStatistics = statistics.GetTextStatisticsResponse
type Call[Ask, Answer] = Callable[[Ask], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Every call the gateway makes. All raise Refusal or NeighbourUnavailable."""

    admit_chat: Call[admission.AdmitChatRequest, admission.AdmitChatResponse]
    admit_text: Call[admission.AdmitTextRequest, admission.AdmitTextResponse]
    get_text_submission: Call[admission.GetTextSubmissionRequest, admission.GetTextSubmissionResponse]
    find_account: Call[admission.FindAccountRequest, admission.FindAccountResponse]
    list_proxy_passkeys: Call[admission.ListProxyPasskeysRequest, admission.ListProxyPasskeysResponse]
    get_kudos_flow: Call[admission.GetKudosFlowRequest, admission.GetKudosFlowResponse]
    claim_jobs: Call[dispatch.ClaimJobsRequest, dispatch.ClaimJobsResponse]
    wait_for_jobs: Call[dispatch.ClaimJobsRequest, dispatch.ClaimJobsResponse]
    give_jobs_back: Call[worker_routes_pb2.GiveJobsBackRequest, worker_routes_pb2.GiveJobsBackResponse]
    submit_result: Call[dispatch.SubmitResultRequest, dispatch.SubmitResultResponse]
    submit_fault: Call[dispatch.SubmitFaultRequest, dispatch.SubmitFaultResponse]
    get_status: Call[dispatch.GetStatusRequest, dispatch.GetStatusResponse]
    cancel_request: Call[dispatch.CancelRequestRequest, dispatch.CancelRequestResponse]
    list_models: Call[dispatch.ListModelsRequest, dispatch.ListModelsResponse]
    get_performance: Call[dispatch.GetPerformanceRequest, dispatch.GetPerformanceResponse]
    get_text_statistics: Call[statistics.GetTextStatisticsRequest, statistics.GetTextStatisticsResponse]
    list_workers: Call[worker_routes_pb2.ListWorkersRequest, worker_routes_pb2.ListWorkersResponse]
    get_worker: Call[worker_routes_pb2.GetWorkerRequest, worker_routes_pb2.GetWorkerResponse]
    update_worker: Call[worker_routes_pb2.UpdateWorkerRequest, worker_routes_pb2.UpdateWorkerResponse]
    delete_worker: Call[worker_routes_pb2.DeleteWorkerRequest, worker_routes_pb2.DeleteWorkerResponse]
    list_worker_messages: Call[
        worker_messages_pb2.ListWorkerMessagesRequest, worker_messages_pb2.ListWorkerMessagesResponse
    ]
    create_worker_message: Call[
        worker_messages_pb2.CreateWorkerMessageRequest, worker_messages_pb2.CreateWorkerMessageResponse
    ]
    get_worker_message: Call[worker_messages_pb2.GetWorkerMessageRequest, worker_messages_pb2.GetWorkerMessageResponse]
    delete_worker_message: Call[
        worker_messages_pb2.DeleteWorkerMessageRequest, worker_messages_pb2.DeleteWorkerMessageResponse
    ]
    append_progress: Call[progress.AppendProgressRequest, progress.AppendProgressResponse]
    watch_request: Callable[[progress.WatchRequestRequest], AsyncIterator[progress.WatchRequestResponse]]
    get_modes: Call[moderation.GetModesRequest, moderation.GetModesResponse]
    accounts: AccountCalls
    review: ReviewCalls
    operations: OperationCalls
    checks: dict[str, Check]
    """For readiness: one for each service, passing when it says it serves."""
    channels: tuple[Neighbour, ...]

    def reachable(self) -> bool:
        """Whether no connection is known to be broken. Asks nobody: the heartbeat has to stay local."""
        broken = (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN)
        return all(one.channel.get_state() not in broken for one in self.channels)

    async def close(self) -> None:
        """Ends every connection."""
        for one in self.channels:
            await one.close()


def connect(settings: NeighbourSettings) -> Neighbours:
    """The services at the settings' targets. Nothing is asked before the first call."""
    to_admission = Neighbour(settings.admission_target, name="admission", settings=settings)
    to_dispatch = Neighbour(settings.dispatch_target, name="dispatch", settings=settings)
    to_progress = Neighbour(settings.progress_target, name="progress", settings=settings)
    to_moderation = Neighbour(settings.moderation_target, name="moderation", settings=settings)
    channels = (to_admission, to_dispatch, to_progress, to_moderation)
    admits = admission_grpc.AdmissionServiceStub(to_admission.channel)
    dispatches = dispatch_grpc.DispatchServiceStub(to_dispatch.channel)
    workers = worker_routes_pb2_grpc.WorkersServiceStub(to_dispatch.channel)
    sums = statistics_pb2_grpc.StatisticsServiceStub(to_dispatch.channel)
    messages = worker_messages_pb2_grpc.WorkerMessagesServiceStub(to_dispatch.channel)
    moderates = moderation_grpc.ModerationServiceStub(to_moderation.channel)
    return Neighbours(
        # Once: a body without an operation key would be queued twice.
        admit_chat=to_admission.once(admits.AdmitChat, deadline=_ADMIT),
        # Once: a text request has no operation key at all.
        admit_text=to_admission.once(admits.AdmitText, deadline=_ADMIT),
        get_text_submission=to_admission.repeatable(admits.GetTextSubmission, deadline=_READ),
        find_account=to_admission.repeatable(admits.FindAccount, deadline=_READ),
        # Once, and soon: what was known before is good enough.
        list_proxy_passkeys=to_admission.once(admits.ListProxyPasskeys, deadline=_HEALTH),
        get_kudos_flow=to_admission.repeatable(admits.GetKudosFlow, deadline=_READ),
        # Once: a repeat claims further jobs, and nobody would work on the first.
        claim_jobs=to_dispatch.once(dispatches.ClaimJobs, deadline=_WRITE),
        wait_for_jobs=to_dispatch.once(dispatches.ClaimJobs, deadline=_WRITE + timedelta(seconds=MAX_WAIT_SECONDS)),
        give_jobs_back=to_dispatch.repeatable(workers.GiveJobsBack, deadline=_WRITE),
        # Once: a repeat of a stored reply is a refusal; the worker's own repeat is answered the same.
        submit_result=to_dispatch.once(dispatches.SubmitResult, deadline=_WRITE),
        submit_fault=to_dispatch.repeatable(dispatches.SubmitFault, deadline=_WRITE),
        get_status=to_dispatch.repeatable(dispatches.GetStatus, deadline=_READ),
        cancel_request=to_dispatch.repeatable(dispatches.CancelRequest, deadline=_WRITE),
        list_models=to_dispatch.repeatable(dispatches.ListModels, deadline=_READ),
        get_performance=to_dispatch.repeatable(dispatches.GetPerformance, deadline=_READ),
        get_text_statistics=to_dispatch.repeatable(sums.GetTextStatistics, deadline=_READ),
        list_workers=to_dispatch.repeatable(workers.ListWorkers, deadline=_READ),
        get_worker=to_dispatch.repeatable(workers.GetWorker, deadline=_READ),
        update_worker=to_dispatch.repeatable(workers.UpdateWorker, deadline=_WRITE),
        # Once: a repeat finds nothing any more.
        delete_worker=to_dispatch.once(workers.DeleteWorker, deadline=_WRITE),
        list_worker_messages=to_dispatch.repeatable(messages.ListWorkerMessages, deadline=_READ),
        # Once: a repeat would tell it twice.
        create_worker_message=to_dispatch.once(messages.CreateWorkerMessage, deadline=_WRITE),
        get_worker_message=to_dispatch.repeatable(messages.GetWorkerMessage, deadline=_READ),
        # Once: a repeat finds nothing any more.
        delete_worker_message=to_dispatch.once(messages.DeleteWorkerMessage, deadline=_WRITE),
        append_progress=_posting(to_progress).append,
        watch_request=_watching(to_progress).events,
        get_modes=to_moderation.repeatable(moderates.GetModes, deadline=_READ),
        accounts=account_calls(to_admission),
        review=review_calls(to_admission, to_dispatch, to_moderation),
        operations=operation_calls(to_moderation),
        checks={one.name: _check(one) for one in channels},
        channels=channels,
    )


def _posting(to_progress: Neighbour) -> Posting:
    posts = progress_grpc.ProgressServiceStub(to_progress.channel)
    return Posting(
        to_progress.repeatable(posts.AppendProgress, deadline=_READ),
        to_progress.repeatable(posts.AppendTogether, deadline=_READ),
    )


def _watching(to_progress: Neighbour) -> Watching:
    single = progress_grpc.ProgressServiceStub(to_progress.channel)
    many = watching_service_pb2_grpc.WatchingServiceStub(to_progress.channel)
    return Watching(
        to_progress.stream(single.WatchRequest, deadline=None),
        to_progress.stream(many.WatchRequests, deadline=None),
        SystemClock(),
    )


def _check(neighbour: Neighbour) -> Check:
    # The published types of this stub forgot its only method.
    health: Any = health_pb2_grpc.HealthStub(neighbour.channel)
    ask = neighbour.once(health.Check, deadline=_HEALTH)

    async def serves() -> None:
        answer = await ask(health_pb2.HealthCheckRequest())
        if answer.status != health_pb2.HealthCheckResponse.SERVING:
            raise ConnectionError("does not serve now")

    return serves
