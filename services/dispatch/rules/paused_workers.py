"""Paused workers as moderators review them. moderation.md A8.4."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

type Sort = Literal["last_check_in", "suspicion", "name", "owner"]

TYPES = {"image": "stable_worker", "text": "text_worker", "interrogation": "interrogation_worker"}
"""How the routes call what the table calls by its oldest names. base-domain 13.2."""

NAMES = {stored: name for name, stored in TYPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedQuery:
    """Which paused workers; empty and None filter nothing."""

    limit: int
    types: Sequence[str] = ()
    suspicions: Sequence[int] = ()
    online: bool | None = None
    sort: Sort = "last_check_in"


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedWorker:
    """One row. `suspicions` holds each reason with its count."""

    id: UUID
    name: str
    type: str
    owner_id: int
    owner: str
    owner_trusted: bool
    owner_flagged: bool
    owner_suspicion: int
    contact: str | None
    online: bool
    last_check_in: datetime
    created: datetime
    info: str | None
    bridge_agent: str
    models: Sequence[str]
    maintenance: bool
    maintenance_msg: str | None
    uptime_seconds: int
    uncompleted_jobs: int
    aborted_jobs: int
    nonconformant_replies: int
    requests_fulfilled: int
    suspicions: Sequence[tuple[int, int]]
