"""RenewLease: progress accepted a post that lengthens a lease."""

from services.dispatch.deps import Deps
from services.dispatch.repo import outcomes


async def renew_lease(generation_id: str, job_ttl_seconds: int, deps: Deps) -> bool:
    """False when the generation is not pending. Never shortens a lease and never passes its cap."""
    generation = outcomes.as_id(generation_id)
    return generation is not None and await outcomes.renew_lease(deps.store, generation, job_ttl_seconds)
