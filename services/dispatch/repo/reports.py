"""Suspicions of workers, and what moderation has still to be told of workers, in Postgres."""

import json
from datetime import datetime
from uuid import UUID

from horde.store import Record
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.suspicions import CsamReported, Reason, Report, WorkerSuspected

_SUSPECT = QUERIES["suspect_worker"]
_SUSPECT_NEW = QUERIES["suspect_new_worker"]
_REPORT_CSAM = QUERIES["report_csam"]
_LIST = QUERIES["list_worker_reports"]
_FORGET = QUERIES["forget_worker_report"]


async def suspect(store: Access, generation: UUID, reason: Reason, now: datetime) -> None:
    """One more reason to suspect the worker of a generation; nothing when the generation is gone."""
    await store.fetchval(_SUSPECT, generation, reason.suspicion.value, reason.detail, now)


async def suspect_worker(store: Access, worker: UUID, reason: Reason, now: datetime) -> None:
    """The same for a worker by its id."""
    await store.fetchval(_SUSPECT_NEW, worker, reason.suspicion.value, reason.detail, now)


async def report_csam(store: Access, generation: UUID, now: datetime) -> None:
    """Keeps a worker's report until moderation has it."""
    await store.execute(_REPORT_CSAM, generation, now)


async def undelivered(store: Access, *, at_most: int) -> list[Report]:
    """What moderation has still to be told, the oldest first."""
    return [_report(row) for row in await store.fetch(_LIST, at_most)]


async def forget(store: Access, report: UUID) -> None:
    """Moderation has it."""
    await store.execute(_FORGET, report)


def _report(row: Record) -> Report:
    told = json.loads(row["report"])
    if row["kind"] == "suspicion":
        return WorkerSuspected(
            id=row["id"],
            happened=row["created"],
            worker_id=told["worker_id"],
            worker_name=told["worker_name"],
            owner_id=told["user_id"],
            suspicion=told["suspicion_id"],
            detail=told["detail"],
            paused=told["paused"],
        )
    return CsamReported(
        id=row["id"],
        happened=row["created"],
        request_id=told["request_id"],
        job_id=told["job_id"],
        worker_id=told["worker_id"],
        worker_name=told["worker_name"],
        user_id=told["user_id"],
        proxied_account=told["proxied_account"],
        origin=told["origin"] or "",
        models=told["models"],
        submitted_prompt=told["submitted_prompt"],
        effective_prompt=told["effective_prompt"],
    )
