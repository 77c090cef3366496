"""The RPCs of progress: wire in, handler, wire out."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any, override

import grpc

from horde.rpc.handling import faulted
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1 import watching_service_pb2 as watching
from horde_pb.progress.v1.progress_service_pb2_grpc import (
    ProgressServiceServicer,
    add_ProgressServiceServicer_to_server,
)
from horde_pb.progress.v1.watching_service_pb2_grpc import (
    WatchingServiceServicer,
    add_WatchingServiceServicer_to_server,
)
from services.progress import wire
from services.progress.deps import Deps
from services.progress.handlers.append_progress import append_progress
from services.progress.handlers.append_together import append_together
from services.progress.handlers.cancel_leases import cancel_leases
from services.progress.handlers.close_lease import close_lease
from services.progress.handlers.open_lease import open_lease
from services.progress.handlers.publish_events import publish_events
from services.progress.handlers.read_posted import read_posted
from services.progress.handlers.watch_request import watch_request
from services.progress.handlers.watch_requests import watch_requests

type Context = grpc.aio.ServicerContext[Any, Any]


class ProgressServicer(ProgressServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def OpenLease(self, request: pb.OpenLeaseRequest, context: Context) -> pb.OpenLeaseResponse:
        await open_lease(wire.lease(request), self._deps)
        return pb.OpenLeaseResponse()

    @override
    async def AppendProgress(self, request: pb.AppendProgressRequest, context: Context) -> pb.AppendProgressResponse:
        return wire.accepted(await append_progress(wire.delta(request), request.api_key, self._deps))

    @override
    async def AppendTogether(self, request: pb.AppendTogetherRequest, context: Context) -> pb.AppendTogetherResponse:
        posts = [(wire.delta(post), post.api_key) for post in request.posts]
        return wire.accepted_together(await append_together(posts, self._deps))

    @override
    async def CloseLease(self, request: pb.CloseLeaseRequest, context: Context) -> pb.CloseLeaseResponse:
        await close_lease(request.generation_id, request.request_id, has_faulted=request.ended, deps=self._deps)
        return pb.CloseLeaseResponse()

    @override
    async def ReadPosted(self, request: pb.ReadPostedRequest, context: Context) -> pb.ReadPostedResponse:
        return wire.posted(await read_posted(request.request_id, list(request.generation_ids), self._deps))

    @override
    async def CancelLeases(self, request: pb.CancelLeasesRequest, context: Context) -> pb.CancelLeasesResponse:
        await cancel_leases(request.request_id, list(request.generation_ids), self._deps)
        return pb.CancelLeasesResponse()

    @override
    async def PublishEvents(self, request: pb.PublishEventsRequest, context: Context) -> pb.PublishEventsResponse:
        await publish_events(request.request_id, wire.signals(request), self._deps)
        return pb.PublishEventsResponse()

    @override
    async def WatchRequest(
        self, request: pb.WatchRequestRequest, context: Context
    ) -> AsyncIterator[pb.WatchRequestResponse]:
        async with aclosing(watch_request(request.request_id, self._deps)) as events:
            async for event in events:
                yield wire.event(event)


_tell_bug = partial(faulted, "progress", "WatchRequests")


class WatchingServicer(WatchingServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def WatchRequests(
        self, request_iterator: AsyncIterator[watching.WatchRequestsRequest], context: Context
    ) -> AsyncIterator[watching.WatchRequestsResponse]:
        changes = (wire.changes(message) async for message in request_iterator)
        async with aclosing(watch_requests(changes, self._deps, tell_bug=_tell_bug)) as found:
            async for told in found:
                yield wire.told(told)


def add_to(server: grpc.aio.Server, deps: Deps) -> None:
    """Registers everything that progress answers."""
    add_ProgressServiceServicer_to_server(ProgressServicer(deps), server)
    add_WatchingServiceServicer_to_server(WatchingServicer(deps), server)
