"""The RPCs of review, one line each: wire in, handler, wire out."""

from typing import Any, override

from grpc.aio import ServicerContext

from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb
from horde_pb.moderation.v1.review_service_pb2_grpc import ReviewServiceServicer
from services.moderation.deps import Deps
from services.moderation.handlers.add_note import add_note
from services.moderation.handlers.get_retention_policy import get_retention_policy
from services.moderation.handlers.list_accesses import list_accesses
from services.moderation.handlers.list_events import list_events
from services.moderation.handlers.list_suspicion_history import list_suspicion_history
from services.moderation.handlers.mark_event import mark_event
from services.moderation.handlers.preview_retention import preview_retention
from services.moderation.wire import preview, review

type _Context = ServicerContext[Any, Any]


class ReviewServicer(ReviewServiceServicer):
    """ReviewService over these dependencies."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def ListEvents(self, request: pb.ListEventsRequest, context: _Context) -> pb.ListEventsResponse:
        page = await list_events(review.query(request), review.reviewer(request.reviewer), self._deps)
        return review.page(page, review.policy(*get_retention_policy(self._deps)))

    @override
    async def AddNote(self, request: pb.AddNoteRequest, context: _Context) -> pb.AddNoteResponse:
        who = review.reviewer(request.reviewer)
        return pb.AddNoteResponse(note=review.note(await add_note(request.event_id, request.note, who, self._deps)))

    @override
    async def MarkEvent(self, request: pb.MarkEventRequest, context: _Context) -> pb.MarkEventResponse:
        who = review.reviewer(request.reviewer)
        marks = await mark_event(request.event_id, request.mark or None, who, self._deps)
        return pb.MarkEventResponse(marks=review.marks(marks))

    @override
    async def ListSuspicionHistory(
        self, request: pb.ListSuspicionHistoryRequest, context: _Context
    ) -> pb.ListSuspicionHistoryResponse:
        return review.history(*await list_suspicion_history(review.history_query(request), self._deps))

    @override
    async def ListAccesses(
        self, request: policy_pb.ListAccessesRequest, context: _Context
    ) -> policy_pb.ListAccessesResponse:
        return review.access_log(*await list_accesses(review.access_query(request), self._deps))

    @override
    async def GetRetentionPolicy(
        self, request: policy_pb.GetRetentionPolicyRequest, context: _Context
    ) -> policy_pb.GetRetentionPolicyResponse:
        return review.policy(*get_retention_policy(self._deps))

    @override
    async def PreviewRetention(
        self, request: policy_pb.PreviewRetentionRequest, context: _Context
    ) -> policy_pb.PreviewRetentionResponse:
        made = await preview_retention(*preview.windows(request), self._deps)
        _, has_pseudonyms = get_retention_policy(self._deps)
        return preview.preview(made, review.policy(made.policy, has_pseudonyms))
