"""A moderation service that knows which addresses are in timeout, and nothing else."""

from typing import Any, Self, cast

import grpc

from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.moderation.v1.moderation_service_pb2_grpc import ModerationServiceServicer
from horde_pb.vocabulary.v1.caller_pb2 import AddressStanding


class FakeModeration(ModerationServiceServicer):
    """`timeouts`: seconds by address. `is_down` makes every call fail."""

    def __init__(self) -> None:
        self.timeouts: dict[str, int] = {}
        self.is_down = False

    @classmethod
    def new(cls) -> Self:
        """One of these. RPCs that dispatch never calls answer UNIMPLEMENTED, so the class is abstract on paper."""
        return cast("Self", cast("Any", cls)())

    async def CheckAddress(self, request: pb.CheckAddressRequest, context: Any) -> pb.CheckAddressResponse:
        if self.is_down:
            await context.abort(grpc.StatusCode.INTERNAL, "down, as the test wants it")
        seconds = self.timeouts.get(request.address, 0)
        return pb.CheckAddressResponse(standing=AddressStanding(timeout_seconds=seconds))
