"""What becomes of a chat reply: rows of the chat reference's structured submit and reply verification.

A row is one request, one job and one submit, under `best_effort` as well where that makes a difference. `strict` and
`best_effort` are the return codes, None where the reply is stored.
"""

import json
from dataclasses import dataclass, field
from typing import Any

INVALID = "ChatSubmitInvalid"
NONCONFORMANT = "ChatSubmitNonconformant"
MISMATCH = "ChatModelMismatch"
MIB = 2**20


@dataclass(frozen=True)
class Submit:
    """`ask`: keys of the request; `sent`: keys of the submit, None for one that is left out; `shown`: of the status."""

    name: str
    strict: str | None = None
    best_effort: str | None = None
    ask: dict[str, Any] = field(default_factory=dict)
    sent: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def call(name: str = "a", call_id: str = "1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def calling(*calls: dict[str, Any], content: Any = None, finish: str = "tool_calls") -> dict[str, Any]:
    return {"message": said(content, tool_calls=list(calls)), "finish_reason": finish}


def invalid(name: str, **sent: Any) -> Submit:
    return Submit(name, INVALID, INVALID, sent=sent)


def format_of(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": schema, **more}}}


TOOLS = {"tools": [{"type": "function", "function": {"name": name}} for name in ("a", "b")]}
ONLY_A = {**TOOLS, "tool_choice": {"type": "function", "function": {"name": "a"}}}
OBJECT = {"response_format": {"type": "json_object"}}
X = {"type": "object", "additionalProperties": False, "properties": {"x": {"type": "integer", "minimum": 3}}}
STRICT = format_of({**X, "required": ["x"]}, strict=True)


def strictly(x: dict[str, Any], **more: Any) -> dict[str, Any]:
    return format_of({**X, "properties": {"x": x}, "required": ["x"], **more}, strict=True)


NO_TEXTS = ("true", "0", "1.5", "[]", "{}")

SHAPES = [
    invalid("no message", message=None),
    invalid("a message that is text", message="x"),
    invalid("no finish reason", finish_reason=None),
    invalid("an unknown finish reason", finish_reason="done"),
    invalid("both forms", generation="x"),
    invalid("both forms, the text empty", generation=""),
    invalid("finished by calls without any", finish_reason="tool_calls"),
    invalid("no calls in a list", message=said(None, tool_calls=[])),
    invalid("another role", message={"role": "user", "content": "x"}),
    invalid("no content", message={"role": "assistant"}),
    invalid("no content and no calls", message=said(None)),
    invalid("content in parts", message=said([{"type": "text", "text": "x"}])),
    invalid("a native reason of 33 characters", native_finish_reason="x" * 33),
    *[invalid(f"a native reason that is {value}", native_finish_reason=json.loads(value)) for value in NO_TEXTS],
    *[
        invalid(f"{count} {value!r}", **{count: value})
        for count in ("prompt_tokens", "completion_tokens", "reasoning_tokens")
        for value in (-1, 10_000_001, "1", 1.5, True)
    ],
    invalid("no model", model_id=None),
    Submit("another model", MISMATCH, MISMATCH, sent={"model_id": "x"}),
    invalid("reasoning that is a number", message=said("x", reasoning_content=1)),
    invalid("reasoning of more than a MiB", message=said("x", reasoning_content="é" * (MIB // 2 + 1))),
    invalid("129 calls", **calling(*(call(call_id=str(number)) for number in range(129)))),
    invalid("a call without an id", **calling({"type": "function", "function": {"name": "a", "arguments": "{}"}})),
    Submit(
        "everything at its limit",
        sent={
            "message": said("", reasoning_content="x" * MIB),
            "native_finish_reason": "x" * 32,
            "prompt_tokens": 10_000_000,
            "completion_tokens": 0,
            "reasoning_tokens": 10_000_000,
        },
        shown={"text": "", "prompt_tokens": 10_000_000, "completion_tokens": 0, "charge_basis": "output_estimate"},
    ),
    Submit("NUL in a text", sent={"message": said("a\0b")}, shown={"text": "a\ufffdb"}),
]
CALLS = [
    Submit("a call of what is no tool", INVALID, INVALID, TOOLS, calling(call("c"))),
    Submit("a call without tools", INVALID, INVALID, {}, calling(call())),
    Submit("two calls of one id", INVALID, INVALID, TOOLS, calling(call(), call("b"))),
    Submit("a call under none", NONCONFORMANT, None, {**TOOLS, "tool_choice": "none"}, calling(call())),
    Submit("no call under required", NONCONFORMANT, None, {**TOOLS, "tool_choice": "required"}),
    Submit("no call under a function", NONCONFORMANT, None, ONLY_A),
    Submit("a call of another function", NONCONFORMANT, None, ONLY_A, calling(call("b")), {"finish_reason": "stop"}),
    Submit("a call of that function", None, None, ONLY_A, calling(call()), {"finish_reason": "stop"}),
    Submit("a forced call cut off", None, None, ONLY_A, calling(call(), finish="length"), {"finish_reason": "length"}),
    Submit(
        "a required call",
        None,
        None,
        {**TOOLS, "tool_choice": "required"},
        calling(call()),
        {"finish_reason": "tool_calls"},
    ),
    Submit(
        "a second call that is dropped is not looked at",
        None,
        INVALID,
        {**TOOLS, "parallel_tool_calls": False},
        calling(call(), call("c", "2")),
        {"message": said(None, tool_calls=[call()])},
    ),
]
FORMATS = [
    Submit("an object", None, None, OBJECT, {"message": said(' \n{"a": 1}\n')}),
    *[
        Submit(f"no object: {text}", NONCONFORMANT, None, OBJECT, {"message": said(text)})
        for text in ("", "[]", "1", "null", '{"a": NaN}', '{"a": -Infinity}', "x", '{"a": 1} x', '{"a": 1,}')
    ],
    Submit("a schema that is not strict is not checked", None, None, format_of(X), {"message": said('{"y": 1}')}),
    Submit("but it is an object", NONCONFORMANT, None, format_of({"type": "array"}), {"message": said("[]")}),
    Submit("a strict schema", None, None, STRICT, {"message": said('{"x": 3}')}),
    *[
        Submit(f"not of the schema: {text}", NONCONFORMANT, None, STRICT, {"message": said(text)})
        for text in ("", "{}", "[]", '{"x": 2}', '{"x": "3"}', '{"x": true}', '{"x": 3, "y": 1}', '{"x": NaN}')
    ],
    Submit("calls without content need no format", None, None, {**TOOLS, **STRICT}, calling(call(), content="")),
    Submit("calls with content do", NONCONFORMANT, None, {**TOOLS, **STRICT}, calling(call(), content="x")),
    *[
        Submit(
            f"a schema that cannot be compiled: {x}", NONCONFORMANT, None, strictly(x), {"message": said('{"x": 3}')}
        )
        for x in ({"$ref": "#/$defs/none"}, {"$ref": "http://example.com/x"}, {"type": "none"})
    ],
    Submit(
        "the draft that the schema names",
        NONCONFORMANT,
        None,
        strictly(
            {"type": "array", "items": [{"type": "integer"}]}, **{"$schema": "http://json-schema.org/draft-07/schema#"}
        ),
        {"message": said('{"x": ["a"]}')},
    ),
    Submit(
        "else the draft of 2020",
        NONCONFORMANT,
        None,
        strictly({"type": "array", "prefixItems": [{"type": "integer"}]}),
        {"message": said('{"x": ["a"]}')},
    ),
]
SUBMITS = [*SHAPES, *CALLS, *FORMATS]
