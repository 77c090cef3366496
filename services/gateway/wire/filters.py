"""Filters as moderators read and write them. base-domain 8.5."""

from collections.abc import Mapping

import orjson

from horde.contract import limits
from horde.contract.nul import refuse_nul
from horde_pb.moderation.v1 import filters_pb2 as pb
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.validation import invalid
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import Fields

DELETED = Answer(b'{"message":"OK"}')


def list_request(query: Mapping[str, str], caller: Caller) -> pb.ListFiltersRequest:
    """The message that asks for filters. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    contains = query.get("contains", "")
    refuse_nul(contains, "contains")
    return pb.ListFiltersRequest(caller=to_wire(caller), filter_type=_type_of(query), contains=contains)


def create_request(body: dict[str, object], caller: Caller) -> pb.CreateFilterRequest:
    """The message that writes a filter. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    fields = Fields(body)
    fields.require("regex", "filter_type")
    ask = pb.CreateFilterRequest(
        caller=to_wire(caller),
        regex=_regex(fields),
        filter_type=_type(fields) or 0,
        description=_note(fields, "description") if fields.has("description") else None,
        replacement=_note(fields, "replacement"),
    )
    if body.get("regex") == "":
        fields.wrong("regex", "'' is too short: at least 1 character")
    fields.check()
    refuse_nul(body, "")
    return ask


def match_request(body: dict[str, object], caller: Caller) -> pb.MatchFiltersRequest:
    """The message that tries a text. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("prompt")
    ask = pb.MatchFiltersRequest(caller=to_wire(caller), prompt=fields.text("prompt") or "", filter_type=_type(fields))
    fields.check()
    return ask


def compiled_request(query: Mapping[str, str], caller: Caller) -> pb.ListCompiledFiltersRequest:
    """The message that asks for what is in force. Raises Refusal(ValidationFailed)."""
    return pb.ListCompiledFiltersRequest(caller=to_wire(caller), filter_type=_type_of(query))


def get_request(filter_id: str, caller: Caller) -> pb.GetFilterRequest:
    """The message that asks for one."""
    return pb.GetFilterRequest(caller=to_wire(caller), id=filter_id)


def update_request(filter_id: str, body: dict[str, object], caller: Caller) -> pb.UpdateFilterRequest:
    """The message of a change; what is empty or 0 asks for none. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    fields = Fields({key: value for key, value in body.items() if value != 0 or isinstance(value, bool)})
    ask = pb.UpdateFilterRequest(
        caller=to_wire(caller),
        id=filter_id,
        regex=_regex(fields),
        filter_type=_type(fields) or 0,
        description=_note(fields, "description"),
        replacement=_note(fields, "replacement"),
    )
    fields.check()
    refuse_nul(body, "")
    return ask


def delete_request(filter_id: str, caller: Caller) -> pb.DeleteFilterRequest:
    """The message that removes one."""
    return pb.DeleteFilterRequest(caller=to_wire(caller), id=filter_id)


def list_answer(listed: pb.ListFiltersResponse) -> Answer:
    """The list."""
    return Answer(orjson.dumps([_details(one) for one in listed.filters]))


def one_answer(one: pb.Filter) -> Answer:
    """One filter."""
    return Answer(orjson.dumps(_details(one)))


def match_answer(found: pb.MatchFiltersResponse) -> Answer:
    """The suspicion, and what was found."""
    return Answer(orjson.dumps({"suspicion": found.suspicion, "matches": list(found.matches)}))


def compiled_answer(told: pb.ListCompiledFiltersResponse) -> Answer:
    """The pattern of each type."""
    return Answer(orjson.dumps([{"filter_type": one.filter_type, "regex": one.regex} for one in told.compiled]))


def _details(one: pb.Filter) -> dict[str, object]:
    """The id is text, as horde-sdk reads it."""
    return {
        "id": str(one.id),
        "regex": one.regex,
        "filter_type": one.filter_type,
        "description": one.description if one.HasField("description") else None,
        "replacement": one.replacement,
        "user": one.user,
    }


def _regex(fields: Fields) -> str:
    return fields.text("regex", longest=limits.MAX_FILTER_REGEX_LENGTH) or ""


def _note(fields: Fields, key: str) -> str:
    return fields.text(key, longest=limits.MAX_FILTER_NOTE_LENGTH) or ""


def _type(fields: Fields) -> int | None:
    return fields.whole("filter_type", least=limits.MIN_FILTER_TYPE, most=limits.MAX_FILTER_TYPE)


def _type_of(query: Mapping[str, str]) -> int | None:
    """The type in a query string. Raises Refusal(ValidationFailed)."""
    text = query.get("filter_type", "")
    if not text:
        return None
    least, most = limits.MIN_FILTER_TYPE, limits.MAX_FILTER_TYPE
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise invalid({"filter_type": f"has to be a whole number from {least} to {most}"})
    return int(text)
