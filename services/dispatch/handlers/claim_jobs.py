"""ClaimJobs: a worker asks for work. Order of steps: base-domain 4.2."""

from collections.abc import Mapping
from dataclasses import replace

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch.deps import Deps
from services.dispatch.events import pop as events
from services.dispatch.pop.check_in import check_in
from services.dispatch.pop.hand_out import hand_out
from services.dispatch.pop.take import Taking
from services.dispatch.rules import matching
from services.dispatch.rules.declaration import PopAsk, priority_ids, read_declaration
from services.dispatch.rules.jobs import Claim
from services.dispatch.rules.workers import Worker

_MAINTENANCE = "This worker is in maintenance and gets no jobs of others; its owner can end that."


async def claim_jobs(ask: PopAsk, deps: Deps) -> Claim:
    """The jobs of one request, leased to the worker; or none. Raises Refusal as the proto says."""
    now = deps.clock.now()
    declared = read_declaration(ask)
    account, worker = await check_in(ask, declared, deps, now)
    priority = priority_ids(ask.priority_usernames)
    capacity = matching.lease_capacity(
        worker.speed,
        lease=deps.settings.text_job_lease_seconds,
        preparation=deps.settings.text_job_preparation_seconds,
    )
    if matching.is_capacity_limited(worker, declared, capacity):
        events.capacity_limited()
    fit = matching.fit(account, worker, declared, priority, capacity=capacity)
    skipped: Mapping[str, int] = {}
    # the second time for a worker whose first job has images that cannot be delivered now: others need none
    for offered in (fit, replace(fit, image_transport=None)):
        taking = Taking(account, worker, declared, offered, now)
        job = await taking.take(deps)
        skipped = taking.skipped
        if job is None:
            break
        claim = await hand_out(*job, account, deps)
        if claim is not None:
            return claim
    _refuse_maintenance(worker)
    return Claim(skipped=skipped)


def _refuse_maintenance(worker: Worker) -> None:
    if worker.maintenance:
        raise Refusal(reasons.WORKER_MAINTENANCE, worker.maintenance_msg or _MAINTENANCE)
