"""Before the first step of a pop: who pops, and in the same read what waits for it.

A worker that popped here before is taken to be as it was then, and the queue is looked through for that one. Who it is
now is read all the same; when that makes a difference, what was found is not used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.pop.take import first_depth
from services.dispatch.repo import workers as repo
from services.dispatch.rules.declaration import PopAsk
from services.dispatch.rules.jobs import NOTHING, Candidates
from services.dispatch.rules.matching import Fit
from services.dispatch.rules.workers import Account, Worker
from services.dispatch.waiting_room import Seat

_REMEMBERED_SECONDS = 600.0
"""Workers pop every few seconds; one that went away is forgotten in the end."""

type Fitting = Callable[[Account, Worker], Fit]


@dataclass(frozen=True, slots=True)
class Met:
    """Who pops, None for a new worker; and what was found for one who is `worker_id` and fits like `fit`."""

    account: Account
    worker: Worker | None
    worker_id: UUID | None = None
    fit: Fit | None = None
    found: Candidates | None = None

    def found_for(self, worker_id: UUID, fit: Fit) -> Candidates | None:
        """What was found, if it was this worker and this fit that it was found for."""
        return self.found if (worker_id, fit) == (self.worker_id, self.fit) else None


@durations.validate
async def meet(ask: PopAsk, name: str, fitting: Fitting, deps: Deps, now: datetime, seat: Seat | None) -> Met:
    """Reads who pops. Raises Refusal(InvalidAPIKey)."""
    key_hash = hash_api_key(deps.settings.secret_key, ask.api_key)
    key = "popper", key_hash, name
    known = deps.memory.get(key, now=deps.clock.monotonic())
    if isinstance(known, _Known):
        fit = fitting(known.account, known.worker)
        if seat is not None:
            # before the look, so that a job that comes meanwhile is told of
            seat.offer(known.worker.id, fit)
        if known.is_idle:
            met = await _look_idle(key_hash, name, known.worker.id, fit, deps)
        else:
            met = await _look(key_hash, name, known.worker.id, fit, deps, now)
    else:
        met = await _read(key_hash, name, deps)
    if met.worker is not None:
        remembered = _Known(met.account, met.worker, is_idle=met.found is not None and met.found.is_empty)
        deps.memory.put(key, remembered, _REMEMBERED_SECONDS, now=deps.clock.monotonic())
    return met


@dataclass(frozen=True, slots=True)
class _Known:
    """`is_idle`: nothing was found for it."""

    account: Account
    worker: Worker
    is_idle: bool


async def _read(key_hash: str, name: str, deps: Deps) -> Met:
    popper = await repo.read_popper(deps.store, key_hash, name)
    if popper is None:
        raise _unknown_key()
    return Met(*popper)


async def _look(key_hash: str, name: str, worker_id: UUID, fit: Fit, deps: Deps, now: datetime) -> Met:
    depth = first_depth(deps.claiming)
    seen = await repo.look(deps.store, key_hash, name, worker_id=worker_id, fit=fit, now=now, depth=depth)
    if seen is None:
        raise _unknown_key()
    popper, found = seen
    return Met(*popper, worker_id=worker_id, fit=fit, found=found)


async def _look_idle(key_hash: str, name: str, worker_id: UUID, fit: Fit, deps: Deps) -> Met:
    """For a worker that found nothing the last time: whether anything may fit it now is asked at half the cost."""
    seen = await repo.look_idle(deps.store, key_hash, name, worker_id=worker_id, fit=fit)
    if seen is None:
        raise _unknown_key()
    popper, nothing_fits = seen
    return Met(*popper, worker_id=worker_id, fit=fit, found=NOTHING) if nothing_fits else Met(*popper)


def _unknown_key() -> Refusal:
    return Refusal(reasons.INVALID_API_KEY, "No account has this API key.")
