"""Dispatch as progress sees it: why a lease is missing, and that one grew."""

from datetime import timedelta

from horde.rpc.client import Neighbour
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceStub

STATE_DEADLINE = timedelta(seconds=2)
RENEW_DEADLINE = timedelta(seconds=1)
"""A renewal is one update by key. The worker waits for it with its next post, half a second away."""

_ALIVE = frozenset({pb.GENERATION_STATE_PENDING, pb.GENERATION_STATE_FINISHED})


class Dispatch:
    """Both calls may be repeated: one reads, the other never shortens a lease."""

    def __init__(self, neighbour: Neighbour) -> None:
        stub = DispatchServiceStub(neighbour.channel)
        self._state = neighbour.repeatable(stub.GetGenerationState, deadline=STATE_DEADLINE)
        self._renew = neighbour.repeatable(stub.RenewLease, deadline=RENEW_DEADLINE, tries=2)

    async def is_alive(self, generation_id: str) -> bool:
        """Whether the generation is stored and not faulted. Raises NeighbourUnavailable."""
        answer = await self._state(pb.GetGenerationStateRequest(generation_id=generation_id))
        return answer.state in _ALIVE

    async def renew_lease(self, generation_id: str, job_ttl_seconds: int) -> None:
        """Writes a longer lease, in seconds from the pop. Raises NeighbourUnavailable."""
        await self._renew(pb.RenewLeaseRequest(generation_id=generation_id, job_ttl_seconds=job_ttl_seconds))
