"""Progress and media as dispatch knows them: they remember what they were told, and can be broken."""

import asyncio
from collections.abc import Sequence
from typing import Any, Self, cast, override

import grpc

from horde_pb.media.v1 import media_service_pb2 as media_pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceServicer
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceServicer


class FakeProgress(ProgressServiceServicer):
    """`posted` by generation id: characters (None: the stream is gone) and accepted bytes."""

    def __init__(self) -> None:
        self.posted: dict[str, tuple[int | None, int]] = {}
        self.closed: list[tuple[str, bool]] = []
        self.cancelled: list[str] = []
        self.signals: list[tuple[str, pb.Signal]] = []
        self.is_broken = False
        self.ends_in = 0.0
        """Seconds that CloseLease and CancelLeases take."""
        self.is_ending = asyncio.Event()
        """Set when one of them comes."""

    @classmethod
    def new(cls) -> Self:
        """One of these. The other RPCs answer UNIMPLEMENTED, so the class is abstract on paper."""
        return cast("Self", cast("Any", cls)())

    def events(self, request_id: str) -> Sequence[tuple[str, int]]:
        """What was published for a request: events and their counts of generations."""
        return [(signal.event, signal.generations) for request, signal in self.signals if request == request_id]

    @override
    async def ReadPosted(self, request: pb.ReadPostedRequest, context: Any) -> Any:
        await self._break(context)
        return pb.ReadPostedResponse(
            posted=[
                pb.Posted(generation_id=wanted, content_characters=known[0], accepted_bytes=known[1])
                for wanted in request.generation_ids
                if (known := self.posted.get(wanted)) is not None
            ]
        )

    @override
    async def CloseLease(self, request: pb.CloseLeaseRequest, context: Any) -> Any:
        await self._end(context)
        self.closed.append((request.generation_id, request.ended))
        return pb.CloseLeaseResponse()

    @override
    async def CancelLeases(self, request: pb.CancelLeasesRequest, context: Any) -> Any:
        await self._end(context)
        self.cancelled.extend(request.generation_ids)
        return pb.CancelLeasesResponse()

    @override
    async def PublishEvents(self, request: pb.PublishEventsRequest, context: Any) -> Any:
        await self._break(context)
        self.signals.extend((request.request_id, signal) for signal in request.signals)
        return pb.PublishEventsResponse()

    async def _end(self, context: Any) -> None:
        self.is_ending.set()
        await self._break(context)
        await asyncio.sleep(self.ends_in)

    async def _break(self, context: Any) -> None:
        if self.is_broken:
            await context.abort(grpc.StatusCode.INTERNAL, "broken by a test")


class FakeMedia(MediaServiceServicer):
    """`deleted` keys, in the order they were asked for; `keeps` are those that its store does not delete."""

    def __init__(self) -> None:
        self.keeps: set[str] = set()
        self.deleted: list[str] = []
        self.is_broken = False

    @classmethod
    def new(cls) -> Self:
        """One of these."""
        return cast("Self", cast("Any", cls)())

    @override
    async def DeleteObjects(self, request: media_pb.DeleteObjectsRequest, context: Any) -> Any:
        if self.is_broken:
            await context.abort(grpc.StatusCode.INTERNAL, "broken by a test")
        kept = [key for key in request.keys if key in self.keeps]
        self.deleted.extend(key for key in request.keys if key not in self.keeps)
        return media_pb.DeleteObjectsResponse(kept=kept)
