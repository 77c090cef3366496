"""Messages for workers as the public routes write and tell them, expiry in hours left. base-domain 4.12."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import orjson

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import worker_messages_pb2 as pb
from horde_pb.dispatch.v1.workers_pb2 import WorkerMessage
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.validation import invalid
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import MAX_INT64, Fields

_VALIDITY = {
    "active": pb.MESSAGE_VALIDITY_ACTIVE,
    "expired": pb.MESSAGE_VALIDITY_EXPIRED,
    "all": pb.MESSAGE_VALIDITY_ALL,
}

DELETED = Answer(b'{"message":"OK"}')


def list_request(query: dict[str, str], caller: Caller) -> pb.ListWorkerMessagesRequest:
    """The message that asks for a page. Raises Refusal(BadRequest, ValidationFailed)."""
    validity = query.get("validity") or "active"
    if validity not in _VALIDITY:
        raise Refusal(reasons.BAD_REQUEST, f"'validity' is one of {', '.join(_VALIDITY)}.")
    errors: dict[str, str] = {}
    author = _whole(query, "user_id", MAX_INT64, errors)
    page = _whole(query, "page", limits.MAX_WORKER_MESSAGE_PAGE, errors)
    if errors:
        raise invalid(errors)
    return pb.ListWorkerMessagesRequest(
        caller=to_wire(caller),
        user_id=author,
        worker_id=query.get("worker_id") or None,
        validity=_VALIDITY[validity],
        page=page or 1,
    )


def create_request(body: dict[str, object], caller: Caller) -> pb.CreateWorkerMessageRequest:
    """The message of a new one. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("message")
    hours = fields.whole("expiry", least=1, most=limits.MAX_WORKER_MESSAGE_HOURS)
    ask = pb.CreateWorkerMessageRequest(
        caller=to_wire(caller),
        worker_id=fields.text("worker_id") or None,
        message=fields.text("message", longest=limits.MAX_WORKER_MESSAGE_LENGTH) or "",
        origin=fields.text("origin", longest=limits.MAX_WORKER_MESSAGE_ORIGIN_LENGTH),
        expiry_hours=limits.DEFAULT_WORKER_MESSAGE_HOURS if hours is None else hours,
    )
    fields.check()
    return ask


def get_request(message_id: str) -> pb.GetWorkerMessageRequest:
    """The message that asks for one."""
    return pb.GetWorkerMessageRequest(message_id=message_id)


def delete_request(message_id: str, caller: Caller) -> pb.DeleteWorkerMessageRequest:
    """The message that removes one."""
    return pb.DeleteWorkerMessageRequest(caller=to_wire(caller), message_id=message_id)


def list_answer(listed: pb.ListWorkerMessagesResponse, now: datetime) -> Answer:
    """A page."""
    return Answer(orjson.dumps(told(listed.messages, now)))


def one_answer(message: WorkerMessage, now: datetime) -> Answer:
    """One message."""
    return Answer(orjson.dumps(_told(message, now)))


def told(messages: Iterable[WorkerMessage], now: datetime) -> list[dict[str, object]]:
    """Messages, in their order."""
    return [_told(message, now) for message in messages]


def _told(message: WorkerMessage, now: datetime) -> dict[str, object]:
    left = message.expiry.ToDatetime(UTC) - now
    return {
        "id": message.id,
        "worker_id": message.worker_id if message.HasField("worker_id") else None,
        "message": message.message,
        "origin": message.origin,
        "expiry": max(math.ceil(left / timedelta(hours=1)), 0),
    }


def _whole(query: dict[str, str], key: str, most: int, errors: dict[str, str]) -> int | None:
    text = query.get(key)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not int(key != "user_id") <= int(text[:20]) <= most:
        errors[key] = "has to be a whole number" if key == "user_id" else f"has to be a whole number from 1 to {most}"
        return None
    return int(text)
