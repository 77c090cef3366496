"""`tools`, `tool_choice`, `parallel_tool_calls` and `response_format`. Chat reference, Tools."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from horde.contract import limits
from horde.contract.chat import saying
from horde.contract.chat.strict_schema import check_strict_schema
from horde.contract.vocabulary import chat_limits

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODES = ("none", "auto", "required")
_ONLY_WITH_TOOLS = "Invalid value for '{0}': '{0}' is only allowed when 'tools' are specified."


@dataclass(frozen=True, slots=True)
class ToolControls:
    """The four keys as the client sent them; None or empty where they say nothing."""

    tools: list[dict[str, Any]]
    tool_choice: str | dict[str, Any] | None
    parallel_tool_calls: bool | None
    response_format: dict[str, Any] | None


def parse_tool_controls(body: Mapping[str, object]) -> ToolControls:
    """Reads the four keys of a body. Raises Refusal with the path."""
    tools = _tools(body.get("tools"))
    response_format = _response_format(body.get("response_format"))
    choice = body.get("tool_choice")
    parallel = body.get("parallel_tool_calls")
    if choice is not None:
        choice = _tool_choice(choice)
    if parallel is not None:
        parallel = saying.flag(parallel, "parallel_tool_calls")
    _check_size(tools, choice, body.get("response_format"))
    for key, value in (("tool_choice", choice), ("parallel_tool_calls", parallel)):
        if value is not None and not tools:
            raise saying.conflict(key, _ONLY_WITH_TOOLS.format(key))
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        if all(tool["function"]["name"] != name for tool in tools):
            raise saying.conflict(
                "tool_choice", f"Invalid value for 'tool_choice': 'tools' define no function '{name}'."
            )
    return ToolControls(tools, choice, parallel, response_format)


def _tools(value: object) -> list[dict[str, Any]]:
    if value is None:
        return []
    tools = saying.listing(value, "tools")
    if len(tools) > limits.MAX_CHAT_TOOL_COUNT:
        raise saying.unsupported("tools", f"a chat request defines at most {limits.MAX_CHAT_TOOL_COUNT} tools.")
    return [_tool(each, f"tools[{position}]") for position, each in enumerate(tools)]


def _tool(value: object, path: str) -> dict[str, Any]:
    tool = saying.mapping(value, path)
    saying.refuse_unknown_keys(tool, {"type", "function"}, f"{path}.")
    kind = saying.text(tool.get("type"), f"{path}.type")
    if kind != "function":
        raise saying.unsupported_value(f"{path}.type", kind)
    function = saying.mapping(tool.get("function"), f"{path}.function")
    path = f"{path}.function"
    saying.refuse_unknown_keys(function, {"name", "description", "parameters", "strict"}, f"{path}.")
    name = _name(function.get("name"), f"{path}.name")
    if function.get("description") is not None:
        saying.text(function["description"], f"{path}.description")
    is_strict = function.get("strict") is not None and saying.flag(function["strict"], f"{path}.strict")
    if function.get("parameters") is not None:
        schema = saying.mapping(function["parameters"], f"{path}.parameters")
        _check_nesting(schema, f"{path}.parameters")
        if is_strict:
            check_strict_schema(schema, f"function '{name}'", f"{path}.parameters")
    return tool


def _tool_choice(value: object) -> str | dict[str, Any]:
    if isinstance(value, str):
        if value not in _MODES:
            raise saying.unsupported_value("tool_choice", value)
        return value
    if not isinstance(value, dict):
        raise saying.wrong("tool_choice", "a string or an object is wanted.")
    saying.refuse_unknown_keys(value, {"type", "function"}, "tool_choice.")
    kind = saying.text(value.get("type"), "tool_choice.type")
    if kind != "function":
        raise saying.unsupported_value("tool_choice.type", kind)
    function = saying.mapping(value.get("function"), "tool_choice.function")
    saying.refuse_unknown_keys(function, {"name"}, "tool_choice.function.")
    saying.text(function.get("name"), "tool_choice.function.name")
    return value


def _response_format(value: object) -> dict[str, Any] | None:
    if value is None:
        return None
    sent = saying.mapping(value, "response_format")
    kind = saying.text(sent.get("type"), "response_format.type")
    if kind not in {"text", "json_object", "json_schema"}:
        raise saying.unsupported_value("response_format.type", kind)
    known = {"type", "json_schema"} if kind == "json_schema" else {"type"}
    saying.refuse_unknown_keys(sent, known, "response_format.")
    if kind == "json_schema":
        _json_schema(sent.get("json_schema"), "response_format.json_schema")
    return None if kind == "text" else sent


def _json_schema(value: object, path: str) -> None:
    sent = saying.mapping(value, path)
    saying.refuse_unknown_keys(sent, {"name", "schema", "description", "strict"}, f"{path}.")
    name = _name(sent.get("name"), f"{path}.name")
    if sent.get("description") is not None:
        saying.text(sent["description"], f"{path}.description")
    is_strict = sent.get("strict") is not None and saying.flag(sent["strict"], f"{path}.strict")
    schema = saying.mapping(sent.get("schema"), f"{path}.schema")
    _check_nesting(schema, f"{path}.schema")
    if is_strict:
        check_strict_schema(schema, f"response_format '{name}'", f"{path}.schema")


def _name(value: object, path: str) -> str:
    name = saying.text(value, path)
    if _NAME.fullmatch(name) is None:
        raise saying.unsupported(path, "1 to 64 characters of A-Z, a-z, 0-9, _ and - are wanted.")
    return name


def _check_nesting(schema: object, path: str) -> None:
    if chat_limits.chat_schema_exceeds_nesting(schema):
        raise saying.unsupported(
            path, f"a schema nests at most {limits.MAX_CHAT_SCHEMA_NESTING} levels below its root."
        )


def _check_size(tools: list[dict[str, Any]], choice: object, response_format: object) -> None:
    """The compact JSON of the three keys, measured as the SDK measures it."""
    if not (tools or choice or response_format):
        return
    spec = {"tools": tools, "tool_choice": choice, "response_format": response_format}
    size = len(json.dumps(spec, separators=(",", ":"), ensure_ascii=False).encode())
    if size > limits.MAX_CHAT_TOOL_SPEC_BYTES:
        raise saying.unsupported(
            "tools",
            "'tools', 'tool_choice' and 'response_format' take more than "
            f"{limits.MAX_CHAT_TOOL_SPEC_BYTES} bytes together.",
        )
