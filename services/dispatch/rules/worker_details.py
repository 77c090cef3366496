"""A worker as its owner, clients and moderators see it. base-domain 4.13; chat reference, Worker details."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.dispatch.rules.declaration import ChatDeclaration
from services.dispatch.rules.messages import Message


@dataclass(frozen=True, slots=True)
class WorkerFile:
    """What only moderators see."""

    paused: bool
    suspicions: int
    address: str | None
    contact: str | None


@dataclass(frozen=True, slots=True)
class WorkerDetails:
    """Everything there is to tell. Kudos in hundredths, speed in tokens per second, uptime in seconds."""

    id: uuid.UUID
    name: str
    owner_id: int
    last_check_in: datetime
    fulfilments: int
    kudos: int
    generated_kudos: int
    uptime_kudos: int
    speed: float | None
    threads: int
    uptime: int
    maintenance: bool
    info: str | None
    nsfw: bool
    trusted: bool
    flagged: bool
    uncompleted_jobs: int
    nonconformant_replies: int
    models: tuple[str, ...]
    bridge_agent: str
    max_length: int
    max_context_length: int
    chat: ChatDeclaration
    owner: str
    owner_is_public: bool
    file: WorkerFile


@dataclass(frozen=True, slots=True)
class View:
    """One worker for one viewer: `owner` and `file` are None, `messages` empty for who may not see them."""

    worker: WorkerDetails
    online: bool
    owner: str | None
    file: WorkerFile | None
    messages: Sequence[Message]


def view(worker: WorkerDetails, messages: Sequence[Message], *, online_since: datetime, moderator: bool) -> View:
    """What a viewer sees. The owner's own key opens no more than anybody's (base-domain 4.13)."""
    opened = moderator or worker.owner_is_public
    return View(
        worker=worker,
        online=worker.last_check_in > online_since,
        owner=worker.owner if opened else None,
        file=worker.file if moderator else None,
        messages=messages if opened else (),
    )
