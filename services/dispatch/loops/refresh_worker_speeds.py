"""Worker speeds: each worker's mean over its newest samples, so that the lease gate knows what it can do."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import workers as repo

_NEWEST = 20
_LATELY = timedelta(seconds=180)
"""Samples that count, and which workers are measured again. base-domain 4.10."""

_KEPT = timedelta(hours=1)
"""How long what models did is read by anybody. base-domain 9."""


async def refresh_worker_speeds(deps: Deps) -> None:
    """One pass. In two replicas at once both write the same."""
    now = deps.clock.now()
    await repo.refresh_speeds(deps.store, now - _LATELY, _NEWEST)
    await repo.forget_old_samples(deps.store, _NEWEST, now - _KEPT)
