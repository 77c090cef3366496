"""A worker's submit: base-domain 5.1, and the chat reference's structured submit.

What a value has to be is checked by the service, which also remembers a refused reply. Only the two forms of the body
are told apart here, and values that no message could carry are refused.
"""

from dataclasses import dataclass

import orjson

from horde.contract import limits, reasons, strict_json
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1.dispatch_service_pb2 import (
    SubmitFaultRequest,
    SubmitResultRequest,
    SubmitResultResponse,
)
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import Fields

_CHAT_KEYS = ("message", "model_id", "finish_reason", "fault_reason")
_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
_STATES = ("ok", "censored", "csam", "faulted")
_LONGEST_REF = 255


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker hands in what it generated."""

    message: SubmitResultRequest


@dataclass(frozen=True, slots=True)
class Fault:
    """A worker gives its job up."""

    message: SubmitFaultRequest


NO_REWARD = Answer(b'{"reward":0}')


def read(body: dict[str, object], caller: Caller) -> Reply | Fault:
    """Which of the two this is, with its message. Raises Refusal(ValidationFailed, BadRequest)."""
    fields = Fields(body)
    chat = any(fields.has(key) for key in _CHAT_KEYS)
    fields.require("id") if chat else fields.require("id", "generation")
    generation_id = fields.text("id") or ""
    state = "ok" if (given := fields.text("state")) is None else given
    if state not in _STATES:
        fields.wrong("state", f"has to be one of {', '.join(_STATES)}")
    # beside a message it is refused whatever it is, and that is remembered
    generation = _as_text(fields, "generation") if fields.has("message") else fields.text("generation")
    seed = fields.whole("seed") or 0
    _check_metadata(fields)
    fields.check()
    if state == "faulted":
        fault = SubmitFaultRequest(caller=to_wire(caller), generation_id=generation_id, chat=chat)
        given = _as_text(fields, "fault_reason")
        # an empty one is a word that nobody knows, not none
        fault.fault_reason = "" if given is None else given or '""'
        return Fault(fault)
    counts = {name: fields.raw(name) for name in _COUNTS if fields.has(name)}
    native = fields.raw("native_finish_reason")
    if not isinstance(native, str | None):
        counts["native_finish_reason"] = native
    reply = SubmitResultRequest(
        caller=to_wire(caller),
        generation_id=generation_id,
        state=state,
        generation=generation,
        message=fields.json("message"),
        finish_reason=_as_text(fields, "finish_reason"),
        native_finish_reason=native if isinstance(native, str) else None,
        counts=strict_json.dumps(counts) if counts else b"",
        model_id=_as_text(fields, "model_id"),
        seed=seed,
        gen_metadata=fields.json("gen_metadata"),
        chat=chat,
    )
    return Reply(reply)


def answer(stored: SubmitResultResponse) -> Answer:
    """What the reply earned, in kudos."""
    return Answer(orjson.dumps({"reward": stored.reward_hundredths / 100}))


def _as_text(fields: Fields, key: str) -> str | None:
    """A value that should be a string. Any other goes on as its JSON, so that the service refuses and remembers it."""
    value = fields.raw(key)
    return value if value is None or isinstance(value, str) else strict_json.dumps(value).decode()


def _check_metadata(fields: Fields) -> None:
    value = fields.raw("gen_metadata")
    if value is None:
        return
    if not isinstance(value, list):
        fields.wrong("gen_metadata", "is not of type 'array'")
        return
    if len(value) > limits.MAX_GEN_METADATA:
        raise Refusal(
            reasons.BAD_REQUEST, f"'gen_metadata' may have at most {limits.MAX_GEN_METADATA} entries, not {len(value)}."
        )
    for place, entry in enumerate(value):
        _check_entry(fields, f"gen_metadata.{place}", entry)


def _check_entry(fields: Fields, path: str, entry: object) -> None:
    if not isinstance(entry, dict):
        fields.wrong(path, "is not of type 'object'")
        return
    if entry.get("type") != "censorship":
        fields.wrong(f"{path}.type", "has to be 'censorship'")
    if entry.get("value") != "csam":
        fields.wrong(f"{path}.value", "has to be 'csam'")
    ref = entry.get("ref")
    if ref is not None and not (isinstance(ref, str) and len(ref) <= _LONGEST_REF):
        fields.wrong(f"{path}.ref", f"has to be a string of at most {_LONGEST_REF} characters")
