"""CancelLeases: the workers of a cancelled request learn to stop with their next post, its watchers at once."""

from collections.abc import Sequence

from services.progress.deps import Deps


async def cancel_leases(request_id: str, generation_ids: Sequence[str], deps: Deps) -> None:
    """Flags the leases that still exist. Safe to repeat. Raises LiveUnavailable."""
    if generation_ids:
        await deps.leases.cancel(request_id, generation_ids)
