"""Jobs whose lease lapsed are given up and wait again. Two replicas may run it: each fault is a compare-and-set."""

from uuid import UUID

from horde.failures import Outage
from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes, upkeep
from services.dispatch.repo.upkeep import Lapsed

_BATCH = 200


async def abort_stale_leases(deps: Deps) -> None:
    """One pass over every lapsed lease. A lease that progress renewed meanwhile is left alone.

    Raises what a job failed with, once the others had their turn.
    """
    failed: dict[UUID, Exception] = {}
    while True:
        lapsed = await upkeep.list_lapsed(deps.store, now=deps.clock.now(), amount=_BATCH)
        aborted = [await _try(job, failed, deps) for job in lapsed if job.id not in failed]
        # a batch of which nothing could be aborted would come again
        if len(lapsed) < _BATCH or not any(aborted):
            break
    if failed:
        raise next(iter(failed.values()))


async def _try(job: Lapsed, failed: dict[UUID, Exception], deps: Deps) -> bool:
    """Whether the job was aborted."""
    try:
        return await _abort(job, deps)
    except Outage:
        raise
    except Exception as bug:  # noqa: BLE001 - the pass raises it
        events.passed_over(str(job.id), bug)
        failed[job.id] = bug
        return False


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
