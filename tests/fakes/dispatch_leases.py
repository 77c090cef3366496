"""Dispatch as progress knows it: tells the state of generations and remembers renewals."""

from typing import Any, cast, override

import grpc

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceServicer


class FakeDispatchLeases(DispatchServiceServicer):
    """`states` by generation id, unknown otherwise; `renewals` in the order they came."""

    def __init__(self) -> None:
        self.states: dict[str, Any] = {}
        self.renewals: list[tuple[str, int]] = []
        self.is_broken = False

    @classmethod
    def new(cls) -> "FakeDispatchLeases":
        """One of these. The other RPCs of dispatch answer UNIMPLEMENTED, so the class is abstract on paper."""
        return cast("FakeDispatchLeases", cast("Any", cls)())

    @override
    async def GetGenerationState(self, request: pb.GetGenerationStateRequest, context: Any) -> Any:
        state = self.states.get(request.generation_id, pb.GENERATION_STATE_UNKNOWN)
        return pb.GetGenerationStateResponse(state=state)

    @override
    async def RenewLease(self, request: pb.RenewLeaseRequest, context: Any) -> Any:
        if self.is_broken:
            await context.abort(grpc.StatusCode.INTERNAL, "broken by a test")
        self.renewals.append((request.generation_id, request.job_ttl_seconds))
        return pb.RenewLeaseResponse(renewed=True)
