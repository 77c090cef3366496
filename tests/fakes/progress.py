"""A progress service that only remembers what dispatch told it."""

from typing import Any, Self, cast

import grpc

from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceServicer


class FakeProgress(ProgressServiceServicer):
    """Lists of what arrived; `posted` is what ReadPosted answers, by generation id. `is_down` makes every call fail."""

    def __init__(self) -> None:
        self.opened: list[pb.OpenLeaseRequest] = []
        self.closed: list[pb.CloseLeaseRequest] = []
        self.cancelled: list[pb.CancelLeasesRequest] = []
        self.published: list[pb.PublishEventsRequest] = []
        self.posted: dict[str, pb.Posted] = {}
        self.is_down = False

    @classmethod
    def new(cls) -> Self:
        """One of these. RPCs that dispatch never calls answer UNIMPLEMENTED, so the class is abstract on paper."""
        return cast("Self", cast("Any", cls)())

    async def OpenLease(self, request: pb.OpenLeaseRequest, context: Any) -> pb.OpenLeaseResponse:
        await self._fail_when_down(context)
        self.opened.append(request)
        return pb.OpenLeaseResponse()

    async def CloseLease(self, request: pb.CloseLeaseRequest, context: Any) -> pb.CloseLeaseResponse:
        await self._fail_when_down(context)
        self.closed.append(request)
        return pb.CloseLeaseResponse()

    async def ReadPosted(self, request: pb.ReadPostedRequest, context: Any) -> pb.ReadPostedResponse:
        await self._fail_when_down(context)
        asked = request.generation_ids
        return pb.ReadPostedResponse(posted=[self.posted.get(one, pb.Posted(generation_id=one)) for one in asked])

    async def CancelLeases(self, request: pb.CancelLeasesRequest, context: Any) -> pb.CancelLeasesResponse:
        await self._fail_when_down(context)
        self.cancelled.append(request)
        return pb.CancelLeasesResponse()

    async def PublishEvents(self, request: pb.PublishEventsRequest, context: Any) -> pb.PublishEventsResponse:
        await self._fail_when_down(context)
        self.published.append(request)
        return pb.PublishEventsResponse()

    async def _fail_when_down(self, context: Any) -> None:
        if self.is_down:
            await context.abort(grpc.StatusCode.INTERNAL, "down, as the test wants it")
