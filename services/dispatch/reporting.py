"""What moderation has to know of workers is told it, and forgotten here once it has it.

Reports wait in rows of the commit that made them true. Two replicas may tell
the same: moderation knows a repeat by its id.
"""

from horde.contract.refusal import Refusal
from horde.rpc.client import NeighbourUnavailable
from services.dispatch.deps import Deps
from services.dispatch.events import reports as events
from services.dispatch.repo import reports as repo
from services.dispatch.rules.suspicions import Report, WorkerSuspected

_BATCH = 100

_AWAY = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNIMPLEMENTED"})
"""gRPC codes after which the next report would fare no better. An older moderation does not know the call yet."""


async def deliver_reports(deps: Deps) -> None:
    """Every report that waits. Raises Outage when moderation is away: the loop puts it off and the rows stay."""
    while True:
        waiting = await repo.undelivered(deps.store, at_most=_BATCH)
        delivered = 0
        for report in waiting:
            delivered += await _delivered(report, deps)
        # a batch of which nothing could be told would come again
        if len(waiting) < _BATCH or not delivered:
            return


async def _delivered(report: Report, deps: Deps) -> bool:
    """False for one that moderation fails on: others must not wait behind it."""
    kind = "suspicion" if isinstance(report, WorkerSuspected) else "csam"
    try:
        if isinstance(report, WorkerSuspected):
            await deps.neighbours.record_suspicion(report)
        else:
            await deps.neighbours.record_csam(report)
    except Refusal as refusal:
        events.refused(kind, str(report.id), refusal.reason.key)
    except NeighbourUnavailable as away:
        if away.code in _AWAY:
            raise
        events.failed(kind, str(report.id), away.code)
        return False
    else:
        events.delivered(kind)
    await repo.forget(deps.store, report.id)
    return True
