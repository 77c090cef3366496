"""Maintenance mode cancels what waits; jobs under way settle as usual (decision 18).

Two replicas skip each other's rows.
"""

from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.repo import outcomes, upkeep
from services.dispatch.rules.streams import Signal

_BATCH = 500


async def abort_on_maintenance(deps: Deps) -> None:
    """One pass; nothing while maintenance is off. Leases are not flagged: their workers finish."""
    while await upkeep.is_maintenance(deps.store):
        async with deps.store.transaction() as tx:
            aborted = await upkeep.abort_queued(tx, amount=_BATCH)
            finished = await outcomes.conclude(tx, [request.id for request in aborted], deps.clock.now())
        for request in aborted:
            if request.is_chat:
                consequences.publish(request.id, [Signal("cancelled", finished[request.id])], deps)
        if len(aborted) < _BATCH:
            return
