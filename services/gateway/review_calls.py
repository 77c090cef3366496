"""What the gateway asks for moderators: which call may be repeated, and how long each may take."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from horde.rpc.client import Neighbour
from horde_pb.admission.v1 import accounts_service_pb2 as admission
from horde_pb.admission.v1 import accounts_service_pb2_grpc as admission_grpc
from horde_pb.dispatch.v1 import worker_review_pb2 as dispatch
from horde_pb.dispatch.v1 import worker_review_pb2_grpc as dispatch_grpc
from horde_pb.moderation.v1 import retention_policy_pb2 as policy
from horde_pb.moderation.v1 import review_service_pb2 as review
from horde_pb.moderation.v1 import review_service_pb2_grpc as review_grpc

_READ = timedelta(seconds=5)
_WRITE = timedelta(seconds=15)

type _Call[Ask, Answer] = Callable[[Ask], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class ReviewCalls:
    """Every call of review. All raise Refusal or NeighbourUnavailable."""

    list_events: _Call[review.ListEventsRequest, review.ListEventsResponse]
    add_note: _Call[review.AddNoteRequest, review.AddNoteResponse]
    mark_event: _Call[review.MarkEventRequest, review.MarkEventResponse]
    list_suspicion_history: _Call[review.ListSuspicionHistoryRequest, review.ListSuspicionHistoryResponse]
    list_accesses: _Call[policy.ListAccessesRequest, policy.ListAccessesResponse]
    get_retention_policy: _Call[policy.GetRetentionPolicyRequest, policy.GetRetentionPolicyResponse]
    preview_retention: _Call[policy.PreviewRetentionRequest, policy.PreviewRetentionResponse]
    list_promotions: _Call[admission.ListPromotionsRequest, admission.ListPromotionsResponse]
    list_paused_workers: _Call[dispatch.ListPausedWorkersRequest, dispatch.ListPausedWorkersResponse]


def review_calls(to_admission: Neighbour, to_dispatch: Neighbour, to_moderation: Neighbour) -> ReviewCalls:
    """The calls, over channels that are open."""
    reviews = review_grpc.ReviewServiceStub(to_moderation.channel)
    accounts = admission_grpc.AccountsServiceStub(to_admission.channel)
    workers = dispatch_grpc.WorkerReviewServiceStub(to_dispatch.channel)
    return ReviewCalls(
        list_events=to_moderation.repeatable(reviews.ListEvents, deadline=_READ),
        # Once: a repeat writes a second note, and a note is for good.
        add_note=to_moderation.once(reviews.AddNote, deadline=_WRITE),
        mark_event=to_moderation.repeatable(reviews.MarkEvent, deadline=_WRITE),
        list_suspicion_history=to_moderation.repeatable(reviews.ListSuspicionHistory, deadline=_READ),
        list_accesses=to_moderation.repeatable(reviews.ListAccesses, deadline=_READ),
        get_retention_policy=to_moderation.repeatable(reviews.GetRetentionPolicy, deadline=_READ),
        # Once: one that took too long would take as long again, beside everybody else.
        preview_retention=to_moderation.repeatable(reviews.PreviewRetention, deadline=_READ, tries=1),
        list_promotions=to_admission.repeatable(accounts.ListPromotions, deadline=_READ),
        list_paused_workers=to_dispatch.repeatable(workers.ListPausedWorkers, deadline=_READ),
    )
