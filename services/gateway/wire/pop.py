"""A worker's pop: base-domain 4.1 and 4.8, and the chat reference's declaration."""

from email.utils import format_datetime

import orjson

from horde.contract import limits, reasons, strict_json
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1.dispatch_service_pb2 import ClaimJobsRequest, ClaimJobsResponse
from horde_pb.dispatch.v1.workers_pb2 import ChatDeclaration, ChatLimits, WorkerMessage
from services.gateway.answers import Answer
from services.gateway.caller import UNKNOWN_AGENT, Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import MAX_INT32, MAX_INT64, Fields

_DEFAULT_MAX_LENGTH = 512
_DEFAULT_CONTEXT_LENGTH = 2048
_SHORTEST_MODEL = 3
"""base-domain 4.1. The worker's own `max_length` and `max_context_length` have no range there."""

_CHAT_KEYS = ("chat_jobs", "prompt_jobs", "chat_features", "chat_limits", "model_id", "image_transports")

_NUL = b"\\u0000"
"""How JSON spells NUL, and the only way: a bare one is no JSON."""

_NO_PAYLOAD = orjson.Fragment(
    orjson.dumps(
        {
            "max_context_length": limits.DEFAULT_CONTEXT_LENGTH,
            "max_length": 80,
            "min_p": 0.0,
            "smoothing_factor": 0.0,
            "dynatemp_range": 0.0,
            "dynatemp_exponent": 1.0,
        }
    )
)
"""What a pop without a job holds in place of a payload: the six keys that have defaults (base-domain 3.2, 4.8)."""


def read(body: bytes, caller: Caller) -> ClaimJobsRequest:
    """The message of a pop. Raises Refusal(BadRequest, ValidationFailed, NulByteInPayload)."""
    fields = Fields(strict_json.loads_object(body))
    fields.require("name")
    ask = ClaimJobsRequest(
        caller=to_wire(caller),
        name=fields.text("name") or "",
        models=_items(fields, "models", shortest=_SHORTEST_MODEL, longest=limits.MAX_MODEL_LENGTH),
        bridge_agent=fields.text("bridge_agent", longest=limits.MAX_BRIDGE_AGENT_LENGTH) or UNKNOWN_AGENT,
        threads=fields.whole("threads", least=1, most=limits.MAX_WORKER_THREADS) or 1,
        amount=fields.whole("amount", least=1, most=limits.MAX_JOBS_PER_POP) or 1,
        max_length=_length(fields, "max_length", _DEFAULT_MAX_LENGTH),
        max_context_length=_length(fields, "max_context_length", _DEFAULT_CONTEXT_LENGTH),
        nsfw=fields.flag("nsfw") is not False,
        softprompts=_items(fields, "softprompts"),
        priority_usernames=_items(fields, "priority_usernames"),
        wait_seconds=fields.number("wait_seconds", least=0, most=limits.MAX_WAIT_SECONDS) or 0,
        chat=_declaration(fields) if any(fields.has(key) for key in _CHAT_KEYS) else None,
    )
    fields.check()
    if _NUL in body:
        _refuse_nul(ask)
    return ask


def answer(claimed: ClaimJobsResponse) -> Answer:
    """The answer to a pop: every key, whether or not there is a job."""
    ids = list(claimed.generation_ids)
    value: dict[str, object] = {
        "payload": orjson.Fragment(claimed.payload) if ids else _NO_PAYLOAD,
        "id": ids[0] if ids else None,
        "ids": ids,
        "messages": [_message(message) for message in claimed.messages],
        "ttl": claimed.ttl_seconds if ids else None,
        "extra_source_images": None,
        "skipped": dict(claimed.skipped),
        "softprompt": claimed.softprompt or None,
        "model": claimed.model if ids else None,
    }
    if ids and claimed.chat:
        value["chat"] = True
    return Answer(orjson.dumps(value))


def _declaration(fields: Fields) -> ChatDeclaration:
    within = fields.nested("chat_limits")
    return ChatDeclaration(
        chat_jobs=fields.flag("chat_jobs") or False,
        prompt_jobs=fields.flag("prompt_jobs"),
        chat_features=_items(fields, "chat_features"),
        chat_limits=None if within is None else _limits(within),
        model_id=fields.text("model_id", longest=limits.MAX_MODEL_LENGTH),
        image_transports=_items(fields, "image_transports"),
    )


def _limits(fields: Fields) -> ChatLimits:
    fields.require("max_context_length", "max_length")
    return ChatLimits(
        max_context_length=fields.whole("max_context_length", most=MAX_INT64) or 0,
        max_length=fields.whole("max_length", most=MAX_INT64) or 0,
        tools_max_temperature=fields.number("tools_max_temperature"),
    )


def _items(fields: Fields, key: str, *, shortest: int = 0, longest: int | None = None) -> list[str]:
    """An array of strings; empty when any of them is wrong, since a message takes nothing else."""
    before = len(fields.errors)
    items = fields.texts(key, shortest=shortest, longest=longest)
    return items if len(fields.errors) == before else []


def _refuse_nul(ask: ClaimJobsRequest) -> None:
    for name, texts in (
        ("name", [ask.name]),
        ("models", ask.models),
        ("bridge_agent", [ask.bridge_agent]),
        ("softprompts", ask.softprompts),
        ("priority_usernames", ask.priority_usernames),
        ("model_id", [ask.chat.model_id]),
        ("chat_features", ask.chat.chat_features),
        ("image_transports", ask.chat.image_transports),
    ):
        if any("\0" in text for text in texts):
            raise Refusal(reasons.NUL_BYTE_IN_PAYLOAD, f"'{name}' holds a NUL character, which cannot be stored.")


def _message(message: WorkerMessage) -> dict[str, object]:
    return {
        "id": message.id,
        "message": message.message,
        "origin": message.origin,
        "expiry": format_datetime(message.expiry.ToDatetime()) if message.HasField("expiry") else None,
    }


def _length(fields: Fields, key: str, default: int) -> int:
    """A length without a range: what no message could carry becomes the most that one can."""
    value = fields.whole(key)
    return default if value is None else max(-MAX_INT32, min(value, MAX_INT32))
