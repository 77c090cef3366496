"""Messages for workers that expired long ago. Safe to run in several replicas: a deleted row is deleted once."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import messages as repo

_KEPT = timedelta(days=30)
"""How long an expired message can still be listed: as long as one may hold."""


async def forget_messages(deps: Deps) -> None:
    """One pass."""
    await repo.forget(deps.store, deps.clock.now() - _KEPT)
