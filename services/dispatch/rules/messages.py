"""What people tell workers: who may write, see and remove a message. base-domain 4.12."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from horde.contract import limits, reasons
from horde.contract.api_keys import ANONYMOUS_ID
from horde.contract.refusal import Refusal
from services.dispatch.rules.viewers import Viewer

type Validity = Literal["active", "expired", "all"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message for one worker, or for all of them when `worker_id` is None."""

    id: UUID
    worker_id: UUID | None
    author_id: int
    text: str
    origin: str
    expiry: datetime


@dataclass(frozen=True, slots=True)
class MessageAsk:
    """A message as it was sent."""

    worker_id: str | None
    text: str
    origin: str | None
    expiry_hours: int


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Which messages are wanted; `page` counts from 1."""

    author_id: int | None
    worker_id: str | None
    validity: Validity
    page: int


def read_ask(ask: MessageAsk) -> MessageAsk:
    """The message as it will be stored. Raises Refusal: NulByteInPayload, BadRequest."""
    for field, text in (("message", ask.text), ("origin", ask.origin or "")):
        if "\0" in text:
            raise Refusal(reasons.NUL_BYTE_IN_PAYLOAD, f"'{field}' holds a NUL character, which cannot be stored.")
    told = replace(ask, text=ask.text.strip(), origin=(ask.origin or "").strip() or None)
    if not 1 <= len(told.text) <= limits.MAX_WORKER_MESSAGE_LENGTH:
        raise _wrong(f"'message' has 1 to {limits.MAX_WORKER_MESSAGE_LENGTH} characters.")
    if len(told.origin or "") > limits.MAX_WORKER_MESSAGE_ORIGIN_LENGTH:
        raise _wrong(f"'origin' may have at most {limits.MAX_WORKER_MESSAGE_ORIGIN_LENGTH} characters.")
    if not 1 <= ask.expiry_hours <= limits.MAX_WORKER_MESSAGE_HOURS:
        raise _wrong(f"'expiry' is 1 to {limits.MAX_WORKER_MESSAGE_HOURS} hours.")
    return told


def refuse_anonymous(viewer: Viewer) -> None:
    """Raises Refusal(AnonForbidden): nobody owns what the anonymous account has."""
    if viewer.id == ANONYMOUS_ID:
        raise Refusal(reasons.ANON_FORBIDDEN, "The anonymous account has no workers and may not use their messages.")


def refuse_writing(viewer: Viewer, owner_id: int | None) -> None:
    """`owner_id`: whose worker is told; None: all workers are. Raises Refusal(MessagesOnlyOwnWorkers)."""
    if viewer.moderator or viewer.id == owner_id:
        return
    what = "all workers" if owner_id is None else "a worker of another account"
    raise Refusal(reasons.MESSAGES_ONLY_OWN_WORKERS, f"Only a moderator may send a message to {what}.")


def refuse_looking(viewer: Viewer, query: MessageQuery, owner_id: int | None) -> None:
    """`owner_id`: whose worker `worker_id` names. Raises Refusal(Forbidden) for messages of and for others."""
    if viewer.moderator:
        return
    if query.author_id not in (None, viewer.id) or owner_id not in (None, viewer.id):
        raise Refusal(reasons.FORBIDDEN, "Only a moderator may see the messages of other accounts and their workers.")


def refuse_deleting(viewer: Viewer, message: Message) -> None:
    """Raises Refusal(Forbidden) for who neither wrote the message nor is a moderator."""
    if not viewer.moderator and viewer.id != message.author_id:
        raise Refusal(reasons.FORBIDDEN, "Only who wrote a message, or a moderator, may delete it.")


def not_found(message_id: str) -> Refusal:
    """No such message."""
    return Refusal(reasons.WORKERMESSAGE_NOT_FOUND, f"Worker message '{message_id[:64]}' not found.")


def _wrong(what: str) -> Refusal:
    return Refusal(reasons.BAD_REQUEST, what)
