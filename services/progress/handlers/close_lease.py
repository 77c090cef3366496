"""CloseLease: a generation ended, well or badly."""

from services.progress.deps import Deps


async def close_lease(generation_id: str, request_id: str, *, has_faulted: bool, deps: Deps) -> None:
    """Removes the lease; a faulted generation's watchers are told. Safe to repeat. Raises LiveUnavailable."""
    await deps.leases.close(generation_id, request_id, has_faulted=has_faulted)
