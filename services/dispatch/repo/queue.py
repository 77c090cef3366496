"""The queue in Postgres: what fits a worker, and the claim."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from horde.store import Record, Store
from services.dispatch.repo import QUERIES, Access, outcomes
from services.dispatch.rules.jobs import Candidate, Candidates, Handout, Taken, Wanted
from services.dispatch.rules.matching import Fit

_FIND_CANDIDATES = QUERIES["find_candidates"]
_CLAIM_JOBS = QUERIES["claim_jobs"]
_TRICK_WORKER = QUERIES["trick_worker"]
_GIVE_JOBS_BACK = QUERIES["give_jobs_back"]
_LOCK_IDLE_LANES = QUERIES["lock_idle_lanes"]
_REMOVE_IDLE_LANES = QUERIES["remove_idle_lanes"]

ANY_MODEL = ""
"""The lane of text requests that name no model."""


async def find_candidates(store: Access, worker_id: UUID, fit: Fit, now: datetime, depth: int) -> Candidates:
    """The best waiting requests for a worker, best first, looking at up to `depth` entries of each source."""
    rows = await store.fetch(_FIND_CANDIDATES, *sought(worker_id, fit, now, depth))
    return Candidates(
        fitting=[
            Candidate(
                request_id=row["id"],
                user_id=row["user_id"],
                is_chat=row["is_chat"],
                models=row["models"],
                is_single=row["single"],
            )
            for row in rows
            if row["id"] is not None and row["skip"] is None
        ],
        skipped=Counter(row["skip"] for row in rows if row["skip"] is not None),
        exhausted=rows[0]["exhausted"],
    )


def sought(worker_id: UUID, fit: Fit, now: datetime, depth: int) -> tuple[object, ...]:
    """What dispatch.find_candidates_v3 is asked with."""
    return (
        worker_id,
        fit.priority_users,
        fit.owner_only,
        fit.chat_model,
        fit.features,
        fit.image_transport is not None,
        fit.chat_length,
        fit.chat_context,
        fit.tools_max_temperature,
        text_lanes(fit),
        fit.text_length,
        fit.text_context,
        fit.softprompts,
        fit.trusted,
        fit.validated,
        fit.speed,
        fit.paused,
        now,
        depth,
    )


def text_lanes(fit: Fit) -> tuple[str, ...]:
    """The models whose lanes of text requests a worker looks into; none when it takes no text jobs."""
    return (*fit.text_models, ANY_MODEL) if fit.text_models else ()


async def claim(store: Access, wanted: Sequence[Wanted], handout: Handout, expiry: datetime) -> Taken | None:
    """Takes waiting jobs of the first free request of these, in one commit; None when others were faster each time."""
    row = await store.fetchrow(
        _CLAIM_JOBS,
        [want.request_id for want in wanted],
        handout.generation_ids,
        handout.worker_id,
        [want.model for want in wanted],
        handout.now,
        handout.job_ttl,
        handout.lease_cap,
        handout.worker_trusted,
        handout.capacity,
        handout.assigned_max_context_length,
        handout.assigned_max_length,
        handout.image_transport,
        expiry,
        handout.fetches_messages,
    )
    return None if row is None else _taken(row, handout, row["model"], fake=False)


async def trick(store: Access, wanted: Wanted, handout: Handout) -> Taken | None:
    """Hands a paused worker a fake job of a request that does not change; None when it had one before."""
    row = await store.fetchrow(
        _TRICK_WORKER,
        wanted.request_id,
        handout.generation_ids,
        handout.worker_id,
        wanted.model,
        handout.now,
        handout.job_ttl,
        handout.lease_cap,
        handout.worker_trusted,
        handout.assigned_max_context_length,
        handout.assigned_max_length,
        handout.image_transport,
        handout.fetches_messages,
    )
    return None if row is None else _taken(row, handout, wanted.model, fake=True)


async def give_back(store: Store, request: UUID, generations: Sequence[UUID], now: datetime) -> None:
    """Undoes a claim as far as it still runs: its generations vanish and its jobs wait again.

    A request that was cancelled or faulted meanwhile may be done with it.
    """
    async with store.transaction() as tx:
        if await outcomes.lock(tx, request):
            await tx.execute(_GIVE_JOBS_BACK, request, generations)
            await outcomes.conclude(tx, [request], now)


async def remove_idle_lanes(store: Store, before: datetime) -> int:
    """Removes lanes older than `before` that nothing stands in; how many."""
    async with store.transaction() as unit:
        idle = [row["id"] for row in await unit.fetch(_LOCK_IDLE_LANES, before)]
        return await unit.execute(_REMOVE_IDLE_LANES, idle) if idle else 0


def _taken(row: Record, handout: Handout, model: str, *, fake: bool) -> Taken:
    return Taken(
        request_id=row["id"],
        generation_ids=handout.generation_ids[: row["taken"]],
        model=model,
        fake=fake,
        is_chat=row["is_chat"],
        streamed=row["is_chat"] and row["streamed"],
        over_capacity=row["over_capacity"],
        created=row["created"],
        user_id=row["user_id"],
        from_shared_key=row["from_shared_key"],
        max_length=row["max_length"],
        max_context_length=row["max_context_length"],
        prompt=row["prompt"],
        params=row["params"],
        messages=row["messages"],
        by_link=row["by_link"],
        chat_extras=row["chat_extras"],
        image_keys=row["image_keys"],
        softprompt=row["softprompt"] or "",
    )
