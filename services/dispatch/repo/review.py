"""Paused workers in Postgres, as moderators review them."""

from datetime import datetime

from horde.store import Record
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.paused_workers import NAMES, TYPES, PausedQuery, PausedWorker

_LIST_PAUSED = QUERIES["list_paused_workers"]


async def list_paused(store: Access, query: PausedQuery, *, online: datetime) -> tuple[list[PausedWorker], int]:
    """The page, and how many match in all. `online`: the check-in that still counts."""
    types = [TYPES[name] for name in query.types] or None
    rows = await store.fetch(
        _LIST_PAUSED, types, list(query.suspicions) or None, query.online, online, query.sort, query.limit
    )
    return [_paused(row) for row in rows], rows[0]["total"] if rows else 0


def _paused(row: Record) -> PausedWorker:
    return PausedWorker(
        id=row["id"],
        name=row["name"],
        type=NAMES.get(row["worker_type"], row["worker_type"]),
        owner_id=row["user_id"],
        owner=row["owner"],
        owner_trusted=row["owner_trusted"],
        owner_flagged=row["owner_flagged"],
        owner_suspicion=row["owner_suspicion"],
        contact=row["contact"],
        online=row["online"],
        last_check_in=row["last_check_in"],
        created=row["created"],
        info=row["info"],
        bridge_agent=row["bridge_agent"],
        models=row["models"],
        maintenance=row["maintenance"],
        maintenance_msg=row["maintenance_msg"],
        uptime_seconds=row["uptime"],
        uncompleted_jobs=row["uncompleted_jobs"],
        aborted_jobs=row["aborted_jobs"],
        nonconformant_replies=row["nonconformant_replies"],
        requests_fulfilled=row["fulfilments"],
        suspicions=tuple(zip(row["reasons"], row["counts"], strict=True)),
    )
