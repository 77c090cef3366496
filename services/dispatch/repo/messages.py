"""Messages for workers, in Postgres."""

from datetime import datetime
from uuid import UUID

from horde.store import Record
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.messages import Message, Validity

_LIST = QUERIES["list_worker_messages"]
_LIST_ACTIVE = QUERIES["list_active_messages"]
_CREATE = QUERIES["create_worker_message"]
_READ = QUERIES["read_worker_message"]
_DELETE = QUERIES["delete_worker_message"]
_FORGET = QUERIES["forget_worker_messages"]

PAGE = 50
"""Messages of one page. base-domain 4.12."""


async def listed(
    store: Access,
    *,
    seen_by: int | None,
    author: int | None,
    worker: UUID | None,
    validity: Validity,
    now: datetime,
    page: int,
) -> list[Message]:
    """One page, the newest first. `seen_by` None: every message there is."""
    rows = await store.fetch(_LIST, seen_by, author, worker, validity, now, PAGE, (page - 1) * PAGE)
    return [_message(row) for row in rows]


async def active(store: Access, now: datetime, *, at_most: int) -> list[Message]:
    """The newest messages that hold now, whoever they are for."""
    return [_message(row) for row in await store.fetch(_LIST_ACTIVE, now, at_most)]


async def create(store: Access, message: Message, now: datetime) -> bool:
    """Stores a message; False when its worker is gone."""
    written = (message.id, message.worker_id, message.author_id, message.text, message.origin, now, message.expiry)
    return await store.execute(_CREATE, *written) > 0


async def read(store: Access, message: UUID) -> Message | None:
    """None when there is none."""
    row = await store.fetchrow(_READ, message)
    return None if row is None else _message(row)


async def delete(store: Access, message: UUID) -> bool:
    """False when it was gone."""
    return await store.execute(_DELETE, message) > 0


async def forget(store: Access, expired: datetime) -> int:
    """Removes messages that held until before `expired`; how many."""
    return await store.execute(_FORGET, expired)


def _message(row: Record) -> Message:
    return Message(row["id"], row["worker_id"], row["user_id"], row["message"], row["origin"], row["expiry"])
