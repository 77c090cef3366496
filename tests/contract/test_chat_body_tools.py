"""Tool histories and schemas in chat bodies: OpenAI's rules in OpenAI's words."""

from typing import Any

import pytest

from tests.contract.chat_bodies import USER, answer, body, call, parsed, refusal

UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: b"
)
STRAY = "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
HISTORIES: list[tuple[list[dict[str, Any]], str, str]] = [
    ([call("a", "b"), answer("a"), USER], "messages[2].role", UNANSWERED),
    ([call("a", "b"), answer("a")], "messages", UNANSWERED),
    ([USER, answer("a")], "messages[1].role", STRAY),
    ([call("a"), answer("a"), answer("a")], "messages[2].role", STRAY),
    ([call("a", "b"), answer("a"), answer("a")], "messages[2].role", STRAY),
    (
        [call("a"), answer("z")],
        "messages[1].tool_call_id",
        "Invalid parameter: 'tool_call_id' of 'z' not found in 'tool_calls' of previous message.",
    ),
    ([call("a", "a")], "messages[0].tool_calls", "'a'"),
]


@pytest.mark.parametrize(("messages", "path", "words"), HISTORIES)
def test_a_broken_tool_history_is_refused_in_openais_words(
    messages: list[dict[str, Any]], path: str, words: str
) -> None:
    no = refusal(body(messages=messages))
    assert no.reason.key == "UnsupportedChatParameter"
    assert no.message.startswith(f"{path}: ")
    assert words in no.message


def test_ids_may_recur_in_a_later_round_and_be_answered_in_any_order() -> None:
    messages = [call("a", "b"), answer("b"), answer("a"), call("a"), answer("a"), USER]
    request = parsed(body(messages=messages))
    assert request.messages[0] == {**call("a", "b"), "content": None}


SCHEMAS: list[tuple[dict[str, Any], str | None]] = [
    ({"type": "object"}, "In context=(), 'additionalProperties' is required to be supplied and to be false."),
    (
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["shade"],
            "properties": {"shade": {"type": "object"}},
        },
        "In context=('properties', 'shade'), 'additionalProperties' is required to be supplied and to be false.",
    ),
    (
        {"type": "object", "additionalProperties": False, "properties": {"a": {}, "b": {}}, "required": ["a"]},
        "In context=(), 'required' is required to be supplied and to be an array including every key in properties. ",
    ),
    ({"anyOf": [{"type": "string"}, {"type": ["object", "null"]}]}, "In context=('anyOf', '1'), "),
    ({"type": "array", "items": {"properties": {}}}, "In context=('items',), "),
    ({"$defs": {"x": {"type": "object"}}}, "In context=('$defs', 'x'), "),
    (
        {"type": "object", "additionalProperties": False, "properties": {"type": {"minimum": 1}}, "required": ["type"]},
        None,
    ),
    ({"type": "string", "enum": [{"type": "object"}]}, None),
]


@pytest.mark.parametrize(("schema", "sentence"), SCHEMAS)
def test_strict_schemas_follow_openais_rules(schema: dict[str, Any], sentence: str | None) -> None:
    strict_format = {"type": "json_schema", "json_schema": {"name": "colour", "schema": schema, "strict": True}}
    strict_tool = {"type": "function", "function": {"name": "get", "parameters": schema, "strict": True}}
    loose_tool = {"type": "function", "function": {"name": "get", "parameters": schema}}
    parsed(body(tools=[loose_tool]))
    if sentence is None:
        parsed(body(response_format=strict_format, tools=[strict_tool]))
        return
    of_format = refusal(body(response_format=strict_format))
    assert of_format.message.startswith(f"Invalid schema for response_format 'colour': {sentence}")
    of_tool = refusal(body(tools=[strict_tool]))
    assert of_tool.message.startswith(f"Invalid schema for function 'get': {sentence}")
    assert of_tool.facts["param"] == "tools[0].function.parameters"


def nested(levels: int) -> dict[str, Any]:
    """A schema that nests so many levels below its root."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_schemas_nest_ten_levels_at_most() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": nested(10)}}
    parsed(body(tools=[tool]))
    tool["function"] = {"name": "f", "parameters": nested(11)}
    assert refusal(body(tools=[tool])).reason.key == "UnsupportedChatParameter"
