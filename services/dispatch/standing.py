"""How a request stands: what is stored of it, and what the fleet could do for it, the latter from a short memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch.deps import Deps
from services.dispatch.repo import outcomes
from services.dispatch.repo import status as repo
from services.dispatch.rules.matching import UNMEASURED_TOKENS_PER_SECOND
from services.dispatch.rules.status import (
    EXACT_BOUND,
    NOBODY,
    Availability,
    Load,
    RequestStatus,
    Standing,
    far_ahead,
    status,
)
from services.dispatch.sums import summed

_IMPOSSIBLE_SECONDS = 2.0
"""A request that nobody could take is measured again this soon, so that a worker that just came online shows up."""


async def read_status(request_id: str, deps: Deps, *, chat: bool) -> RequestStatus:
    """The status of a request of this family. Raises Refusal(RequestNotFound)."""
    request = outcomes.as_id(request_id)
    standing = None
    if request is not None:
        standing = await repo.read_status(
            deps.store, request, chat=chat, unmeasured_speed=UNMEASURED_TOKENS_PER_SECOND, now=deps.clock.now()
        )
    if request is None or standing is None or not standing.active:
        raise Refusal(reasons.REQUEST_NOT_FOUND, f"Request with ID '{request_id[:64]}' not found.")
    if standing.ahead == EXACT_BOUND:
        head = await summed("queue head", lambda: repo.queue_head(deps.store), deps)
        standing = replace(standing, ahead=far_ahead(standing.rank, head))
    availability = await _availability(request, standing, deps)
    load = Load()
    if standing.ahead is not None and availability.workers > 0:
        load = await _load(availability.worker_ids, deps)
    return status(standing, availability, load)


async def _availability(request: UUID, standing: Standing, deps: Deps) -> Availability:
    if standing.tally.faulted or standing.expired:
        return NOBODY
    known = deps.memory.get(request, now=deps.clock.monotonic())
    if isinstance(known, Availability):
        return known
    return await deps.memory.ask_once(request, lambda: _measured(request, deps))


async def _measured(request: UUID, deps: Deps) -> Availability:
    settings = deps.settings
    measured = await repo.measure(
        deps.store,
        request,
        online=timedelta(seconds=settings.worker_online_seconds),
        unmeasured_speed=UNMEASURED_TOKENS_PER_SECOND,
        capacity_seconds=float(settings.text_job_lease_seconds - settings.text_job_preparation_seconds),
    )
    availability = measured or NOBODY
    fresh = settings.availability_cache_seconds
    if availability.workers == 0:
        fresh = min(fresh, _IMPOSSIBLE_SECONDS)
    deps.memory.put(request, availability, fresh, now=deps.clock.monotonic())
    return availability


async def _load(workers: Sequence[UUID], deps: Deps) -> Load:
    key = frozenset(workers)
    return await summed(key, lambda: repo.competing_load(deps.store, list(key)), deps)
