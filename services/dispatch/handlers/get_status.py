"""GetStatus: how a request stands, with its finished generations."""

from services.dispatch import standing
from services.dispatch.deps import Deps
from services.dispatch.rules.status import RequestStatus


async def get_status(request_id: str, deps: Deps, *, chat: bool) -> RequestStatus:
    """`chat`: which family of routes asks. Raises Refusal(RequestNotFound), also for a request of the other family."""
    return await standing.read_status(request_id, deps, chat=chat)
