"""The shape of a chat submit's body, as JSON Schema. Keys that are not named are refused, here and by admission."""

from collections.abc import Mapping

from horde.contract import limits
from horde.contract.vocabulary import chat_policy

type Schema = Mapping[str, object]

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_MODEL: Schema = {"type": "string", "minLength": 1}
_NAME: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
_CALL_ID: Schema = {"type": "string", "minLength": 1, "maxLength": limits.MAX_TOOL_CALL_ID_LENGTH}
_ANY_OBJECT: Schema = {"type": "object"}
_LENGTH: Schema = {"type": "integer", "minimum": limits.MIN_CHAT_MAX_LENGTH, "maximum": limits.MAX_CHAT_MAX_LENGTH}
_FUNCTION: Schema = {"const": "function"}


def _closed(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _number(least: float, most: float) -> Schema:
    return {"type": "number", "minimum": least, "maximum": most}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT_PART = _closed(("type", "text"), type={"const": "text"}, text=_TEXT)
_IMAGE = _closed(
    ("url",),
    url={"type": "string", "pattern": "^(data:image/[a-z]+;base64,|https?://)"},
    detail=_one_of("auto", "low", "high"),
)
_IMAGE_PART = _closed(("type", "image_url"), type={"const": "image_url"}, image_url=_IMAGE)
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT_PART}]}
_TEXTS_AND_IMAGES: Schema = {"anyOf": [_TEXT, {"type": "array", "items": {"anyOf": [_TEXT_PART, _IMAGE_PART]}}]}
_CALL = _closed(
    ("id", "type", "function"),
    id=_CALL_ID,
    type=_FUNCTION,
    function=_closed(("name", "arguments"), name=_MODEL, arguments=_TEXT),
)
_ROLES: tuple[Schema, ...] = (
    _closed(("role", "content"), role=_one_of("system", "developer"), content=_TEXTS, name=_TEXT),
    _closed(("role", "content"), role={"const": "user"}, content=_TEXTS_AND_IMAGES, name=_TEXT),
    _closed(("role", "content"), role={"const": "assistant"}, content=_TEXTS, name=_TEXT),
    _closed(
        ("role", "tool_calls"),
        role={"const": "assistant"},
        content={"anyOf": [_TEXTS, {"type": "null"}]},
        name=_TEXT,
        tool_calls=_list(_CALL, 1, limits.MAX_CHAT_TOOL_CALL_COUNT),
    ),
    _closed(("role", "content", "tool_call_id"), role={"const": "tool"}, content=_TEXTS, tool_call_id=_CALL_ID),
)
_JSON_SCHEMA = _closed(("name", "schema"), name=_NAME, description=_TEXT, schema=_ANY_OBJECT, strict=_FLAG)
_WORKERS = _list({"type": "string", "format": "uuid"}, 1, limits.MAX_WORKER_LIST)

CHAT_REQUEST: Mapping[str, Schema] = {
    "ChatRequest": _closed(
        ("messages",),
        model=_MODEL,
        models={**_list(_MODEL, 1, limits.MAX_CHAT_MODEL_COUNT), "uniqueItems": True},
        messages=_list(_ref("ChatMessage"), 1, limits.MAX_CHAT_MESSAGE_COUNT),
        max_tokens={**_LENGTH, "default": limits.DEFAULT_CHAT_MAX_LENGTH},
        max_completion_tokens=_LENGTH,
        temperature=_number(0, 5),
        top_p=_number(0.001, 1),
        frequency_penalty=_number(-2, 2),
        presence_penalty=_number(-2, 2),
        seed={"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
        reasoning_effort=_one_of(*(effort.value for effort in chat_policy.ChatReasoningEffort)),
        stop={"anyOf": [_TEXT, _list(_TEXT, 0, limits.MAX_STOP_SEQUENCES)]},
        n={"const": 1},
        stream=_FLAG,
        stream_options={"description": "Accepted and not applied."},
        user={"description": "Accepted and not applied."},
        metadata={"description": "Accepted and not applied."},
        tools=_list(_ref("ChatTool"), 0, limits.MAX_CHAT_TOOL_COUNT),
        tool_choice={
            "anyOf": [
                _one_of("none", "auto", "required"),
                _closed(("type", "function"), type=_FUNCTION, function=_closed(("name",), name=_TEXT)),
            ]
        },
        parallel_tool_calls=_FLAG,
        response_format={
            "anyOf": [
                _closed(("type",), type=_one_of("text", "json_object")),
                _closed(("type", "json_schema"), type={"const": "json_schema"}, json_schema=_JSON_SCHEMA),
            ]
        },
        horde=_ref("ChatOptions"),
    ),
    "ChatMessage": {"anyOf": list(_ROLES)},
    "ChatTool": _closed(
        ("type", "function"),
        type=_FUNCTION,
        function=_closed(("name",), name=_NAME, description=_TEXT, parameters=_ANY_OBJECT, strict=_FLAG),
    ),
    "ChatOptions": _closed(
        only=_WORKERS,
        ignore=_WORKERS,
        trusted_workers=_FLAG,
        validated_backends=_FLAG,
        slow_workers={**_FLAG, "default": True},
        max_context_length={
            "type": "integer",
            "minimum": limits.MIN_CONTEXT_LENGTH,
            "maximum": limits.MAX_CONTEXT_LENGTH,
        },
        context_fit={**_one_of("grow", "reject", "truncate_oldest"), "default": "truncate_oldest"},
        conformance={**_one_of("strict", "best_effort"), "default": "strict"},
        openai_guards=_FLAG,
        include_reasoning={**_FLAG, "default": True},
        availability_mode={**_one_of("wait", "fail_fast"), "default": "wait"},
        max_kudos={"type": "integer", "minimum": 1},
        dry_run=_FLAG,
        operation_key={"type": "string", "format": "uuid"},
    ),
}
"""By name, as the document's components have them."""
