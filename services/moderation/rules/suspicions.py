"""What is remembered of a worker's suspicion, and what moderators are told when it pauses the worker."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.moderation.rules.evidence import storable
from services.moderation.rules.notices import escaped

MAX_WORKER_NAME_CHARACTERS = 100
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """One line of the history, as dispatch reports it."""

    report_id: UUID
    worker_id: UUID
    worker_name: str
    owner_id: int
    suspicion_id: int
    detail: str
    paused: bool
    happened: datetime | None


def stored_name(name: str) -> str:
    """A worker's name as the history keeps it."""
    return storable(name)[:MAX_WORKER_NAME_CHARACTERS]


def paused_notice(suspicion: Suspicion, owner: str) -> str:
    """A worker takes no jobs any more until a moderator lets it. base-domain 2.7."""
    worker = escaped(suspicion.worker_name[:_LONGEST_NAME])
    return "\n".join(
        (
            f"Worker {worker} ({suspicion.worker_id}) of {escaped(owner[:_LONGEST_NAME])} is paused",
            f"last suspicion {suspicion.suspicion_id}: {escaped(suspicion.detail[:500])}",
        )
    )
