"""Lanes that no request stands in any more: each costs a probe for every pop that fits it."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import queue as repo

_LEFT_ALONE = timedelta(hours=1)
"""Younger lanes stay: what was asked once is often asked again."""


async def remove_idle_lanes(deps: Deps) -> None:
    """One pass. Lanes that another replica looks at are skipped."""
    await repo.remove_idle_lanes(deps.store, deps.clock.now() - _LEFT_ALONE)
