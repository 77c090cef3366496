"""GetPerformance: the horde in numbers. base-domain 9."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import fleet as repo
from services.dispatch.rules.fleet import Performance
from services.dispatch.sums import summed


async def get_performance(deps: Deps) -> Performance:
    """What waits, who is online, and what was made in the last minute."""
    return await summed("performance", lambda: _measured(deps), deps)


async def _measured(deps: Deps) -> Performance:
    now = deps.clock.now()
    online = now - timedelta(seconds=deps.settings.worker_online_seconds)
    return await repo.measure(deps.store, online, now - timedelta(minutes=1))
