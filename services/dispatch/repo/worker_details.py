"""Workers in Postgres as they are shown and changed by people."""

from datetime import datetime
from uuid import UUID

from horde.store import Record
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.declaration import ChatDeclaration
from services.dispatch.rules.viewers import Viewer
from services.dispatch.rules.worker_changes import Change
from services.dispatch.rules.worker_details import WorkerDetails, WorkerFile

_READ_VIEWER = QUERIES["read_viewer"]
_LIST_WORKERS = QUERIES["list_workers"]
_READ_WORKER = QUERIES["read_worker"]
_READ_WORKER_BY_NAME = QUERIES["read_worker_by_name"]
_LOCK_WORKER = QUERIES["lock_worker"]
_HAS_JOBS = QUERIES["has_jobs"]
_DELETE_WORKER = QUERIES["delete_worker"]
_UPDATE_WORKER = QUERIES["update_worker"]


async def read_viewer(store: Access, key_hash: str) -> Viewer | None:
    """Whose key this is; None when nobody's."""
    row = await store.fetchrow(_READ_VIEWER, key_hash)
    return None if row is None else Viewer(row["id"], row["alias"], row["moderator"])


async def list_online(store: Access, online: datetime) -> list[WorkerDetails]:
    """Every worker that is online, by name. `online`: the check-in that still counts."""
    return [_details(row) for row in await store.fetch(_LIST_WORKERS, online)]


async def read(store: Access, worker: UUID | str) -> WorkerDetails | None:
    """The worker of an id or of a name; None when there is none."""
    row = await store.fetchrow(_READ_WORKER if isinstance(worker, UUID) else _READ_WORKER_BY_NAME, worker)
    return None if row is None else _details(row)


async def lock(store: Access, worker: UUID) -> bool:
    """Keeps a worker from getting jobs until the commit; False when it is gone."""
    return await store.fetchrow(_LOCK_WORKER, worker) is not None


async def has_jobs(store: Access, worker: UUID) -> bool:
    """Whether a stored job references the worker."""
    found: bool = await store.fetchval(_HAS_JOBS, worker)
    return found


async def delete(store: Access, worker: UUID) -> None:
    """Removes a worker that no stored job references."""
    await store.execute(_DELETE_WORKER, worker)


async def update(store: Access, worker: UUID, change: Change) -> bool:
    """Writes what was chosen; False when the worker is gone. Raises UniqueViolation for another worker's name."""
    written = (change.maintenance, change.maintenance_msg, change.paused, change.info, change.name)
    return await store.execute(_UPDATE_WORKER, worker, *written) > 0


def _details(row: Record) -> WorkerDetails:
    return WorkerDetails(
        id=row["id"],
        name=row["name"],
        owner_id=row["user_id"],
        last_check_in=row["last_check_in"],
        fulfilments=row["fulfilments"],
        kudos=row["kudos"],
        generated_kudos=row["generated_kudos"],
        uptime_kudos=row["uptime_kudos"],
        speed=row["speed"],
        threads=row["threads"],
        uptime=row["uptime"],
        maintenance=row["maintenance"],
        info=row["info"],
        nsfw=row["nsfw"],
        trusted=row["trusted"],
        flagged=row["flagged"],
        uncompleted_jobs=row["uncompleted_jobs"],
        nonconformant_replies=row["nonconformant_replies"],
        models=tuple(row["models"]),
        bridge_agent=row["bridge_agent"],
        max_length=row["max_length"],
        max_context_length=row["max_context_length"],
        chat=chat_declaration(row),
        owner=row["owner"],
        owner_is_public=row["public_workers"],
        file=WorkerFile(row["paused"], row["suspicions"], row["ipaddr"], row["contact"]),
    )


def chat_declaration(row: Record) -> ChatDeclaration:
    """What the worker of a row last declared of chat."""
    return ChatDeclaration(
        accepts_chat_jobs=row["accepts_chat_jobs"],
        accepts_prompt_jobs=row["accepts_prompt_jobs"],
        features=tuple(row["chat_features"]),
        max_context_length=row["chat_max_context_length"],
        max_length=row["chat_max_length"],
        model_id=row["chat_model_id"],
        tools_max_temperature=row["chat_tools_max_temperature"],
        image_transports=tuple(row["image_transports"]),
    )
