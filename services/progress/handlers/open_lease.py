"""OpenLease: a streamed job was handed out, so its worker may post."""

from services.progress.deps import Deps
from services.progress.rules.leases import Lease


async def open_lease(lease: Lease, deps: Deps) -> None:
    """Writes the lease; a repeat leaves one. Raises LiveUnavailable."""
    await deps.leases.open(lease, now=deps.now())
