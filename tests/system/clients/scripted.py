"""What the scripted worker answers: it calls tools it is given, fills schemas, and else says what was said."""

import json
import time
from collections.abc import Mapping
from typing import Any

from tests.system.volunteer import Job

SLOWLY = "slowly"
"""A message with this word is answered after `SLOW_SECONDS`."""
SLOW_SECONDS = 2.5

_SIMPLE: Mapping[str, Any] = {"string": "Paris", "integer": 21, "number": 21, "boolean": True, "null": None}


def scripted_reply(job: Job) -> Mapping[str, Any]:
    """The message of the reply. As a model that does what its request says."""
    last = job.messages[-1]
    said = _text(last["content"])
    if SLOWLY in said:
        time.sleep(SLOW_SECONDS)
    answers_tool = last["role"] == "tool"
    if job.tools and (job.tool_choice == "required" or ("tool" in said and not answers_tool)):
        # the last of the tools is the one with which structured clients take the final answer
        return {"content": None, "tool_calls": [_call(job.tools[-1 if answers_tool else 0], len(job.messages))]}
    if answers_tool:
        return {"content": f"The tool said: {said}"}
    form = job.response_format or {}
    if form.get("type") == "json_schema":
        return {"content": json.dumps(instance(form["json_schema"]["schema"]))}
    if form.get("type") == "json_object":
        return {"content": json.dumps({"city": "Paris", "degrees": 21})}
    return {"content": f"You said: {said} 🦊\u2028✓", "reasoning_content": "Let me repeat."}


def instance(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """A small value that the schema allows."""
    root = schema if root is None else root
    if "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return instance(found, root)
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return instance(several[0], root)
    if schema.get("type") == "object":
        return {name: instance(inner, root) for name, inner in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [instance(schema["items"], root)]
    return schema["enum"][0] if "enum" in schema else _SIMPLE.get(schema.get("type", "string"))


def _call(tool: Mapping[str, Any], number: int) -> dict[str, Any]:
    function = tool["function"]
    arguments = json.dumps(instance(function.get("parameters") or {"type": "object"}))
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": function["name"], "arguments": arguments},
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content)
    return str(content or "")
