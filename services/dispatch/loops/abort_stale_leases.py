"""Jobs whose lease lapsed are given up and wait again. Two replicas may run it: each fault is a compare-and-set."""

from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes, upkeep
from services.dispatch.repo.upkeep import Lapsed

_BATCH = 200


async def abort_stale_leases(deps: Deps) -> None:
    """One pass over every lapsed lease. A lease that progress renewed meanwhile is left alone."""
    while True:
        lapsed = await upkeep.list_lapsed(deps.store, now=deps.clock.now(), amount=_BATCH)
        aborted = 0
        for job in lapsed:
            aborted += await _abort(job, deps)
        # a batch of which nothing could be aborted would come again
        if len(lapsed) < _BATCH or not aborted:
            return


async def _abort(job: Lapsed, deps: Deps) -> bool:
    fault = await outcomes.fault_generation(
        deps.store, job.id, limit=deps.settings.faulted_generations_limit, only_lapsed=True, now=deps.clock.now()
    )
    if fault.outcome != "faulted":
        return False
    if not job.fake:
        events.lapsed(worker_trusted=job.worker_trusted, chat=job.is_chat)
        if job.over_capacity:
            events.shadow_ended(worker_trusted=job.worker_trusted, max_length=job.max_length, ending="aborted")
    if job.streamed and fault.request_id is not None:
        consequences.lapsed(job.id, fault.request_id, deps, fake=job.fake)
    consequences.faulted(fault, deps, fake=job.fake, chat=job.is_chat)
    return True
