"""ClaimJobs: a worker asks for work, and may wait for it. Order of steps: base-domain 4.2."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.store import ForeignKeyViolation
from services.dispatch import board, undoing
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import pop as events
from services.dispatch.pop.check_in import Replaced, check_in
from services.dispatch.pop.hand_out import hand_out, is_time_for_another
from services.dispatch.pop.meeting import Fitting, Met, meet
from services.dispatch.pop.take import Taking
from services.dispatch.rules import matching
from services.dispatch.rules.declaration import Declaration, PopAsk, priority_ids, read_declaration
from services.dispatch.rules.jobs import Claim, Handout, Taken
from services.dispatch.rules.matching import Fit
from services.dispatch.rules.messages import Message
from services.dispatch.rules.workers import Account, Worker
from services.dispatch.waiting_room import Seat

_WORKER_OF_A_JOB = "processing_gens_worker_id_fkey"

_MAINTENANCE = "This worker is in maintenance and gets no jobs of others; its owner can end that."


async def claim_jobs(ask: PopAsk, deps: Deps) -> Claim:
    """The jobs of one request, leased to the worker; or none. Raises Refusal as the proto says.

    With `wait_seconds` it waits that long for a job that fits. When cancelled it leaves nothing claimed.
    """
    declared = read_declaration(ask)
    if ask.wait_seconds <= 0:
        return await undoing.finished(asyncio.create_task(_look(ask, declared, deps)), deps)
    ends_at = deps.clock.monotonic() + ask.wait_seconds
    with deps.room.seat() as seat:
        while True:
            try:
                claim = await undoing.finished(asyncio.create_task(_look(ask, declared, deps, seat)), deps)
            except Replaced:
                return Claim()
            if claim.generation_ids:
                seat.served()
                return claim
            if not await seat.wait(ends_at - deps.clock.monotonic()):
                return claim


@durations.pop
async def _look(ask: PopAsk, declared: Declaration, deps: Deps, seat: Seat | None = None) -> Claim:
    now = deps.clock.now()
    fitting = partial(_fit, declared=declared, priority=priority_ids(ask.priority_usernames), deps=deps)
    met, worker, told = await _entered(ask, declared, fitting, deps, now, seat)
    account, fit = met.account, fitting(met.account, worker)
    # once for a pop, however often it looks
    if (seat is None or seat.is_new) and matching.is_capacity_limited(worker, declared, fit.capacity):
        events.capacity_limited()
    if seat is not None:
        seat.offer(worker.id, fit)
    skipped: Mapping[str, int] = {}
    # the second time for a worker whose first job needs objects that cannot be delivered now: others need none
    for offered in (fit, replace(fit, image_transport=None, fetches_messages=False)):
        found = met.found_for(worker.id, offered)
        taking = Taking(account, worker, declared, offered, now, claim_id=ask.claim_id, found=found)
        job = await _taken(taking, deps)
        skipped = taking.skipped
        if job is None:
            break
        claim = await hand_out(*job, account, deps)
        if claim is not None:
            return replace(claim, messages=told)
        if not is_time_for_another():
            break
    _refuse_maintenance(worker)
    return Claim(skipped=skipped, messages=told)


@durations.pre_eval
async def _entered(
    ask: PopAsk, declared: Declaration, fitting: Fitting, deps: Deps, now: datetime, seat: Seat | None
) -> tuple[Met, Worker, Sequence[Message]]:
    """Who pops, as it is after its check-in, and what its owner is told.

    Raises Refusal, or Replaced for a pop that has waited; then nothing was written.
    """
    met = await meet(ask, declared.name, fitting, deps, now, seat)
    worker = await check_in(met, ask, declared, deps, now, has_waited=seat is not None and not seat.is_new)
    return met, worker, await board.messages_for(worker.id, deps)


def _fit(account: Account, worker: Worker, *, declared: Declaration, priority: tuple[int, ...], deps: Deps) -> Fit:
    capacity = matching.lease_capacity(
        worker.speed,
        lease=deps.settings.text_job_lease_seconds,
        preparation=deps.settings.text_job_preparation_seconds,
    )
    return matching.fit(account, worker, declared, priority, capacity=capacity)


async def _taken(taking: Taking, deps: Deps) -> tuple[Taken, Handout] | None:
    try:
        return await taking.take(deps)
    except ForeignKeyViolation as gone:
        if gone.constraint != _WORKER_OF_A_JOB:
            raise
        raise Refusal(reasons.WORKER_NOT_FOUND, "This worker was deleted while it asked for work.") from None


def _refuse_maintenance(worker: Worker) -> None:
    if worker.maintenance:
        raise Refusal(reasons.WORKER_MAINTENANCE, worker.maintenance_msg or _MAINTENANCE)
