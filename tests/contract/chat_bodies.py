"""Chat bodies and what becomes of them, for the tests of this folder."""

import json
from typing import Any

import pytest

from horde.contract.chat import ChatRequest, parse_chat_request
from horde.contract.refusal import Refusal

USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "lookup"}}


def body(**keys: Any) -> dict[str, Any]:
    """The smallest body, with keys added; a key of None is left out."""
    merged = {"model": "m", "messages": [USER], **keys}
    return {key: value for key, value in merged.items() if value is not None}


def call(*ids: str) -> dict[str, Any]:
    """An assistant message with these tool calls."""
    calls = [{"id": each, "type": "function", "function": {"name": "lookup", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "tool_calls": calls}


def answer(call_id: str) -> dict[str, Any]:
    """A tool message."""
    return {"role": "tool", "content": "42", "tool_call_id": call_id}


def parsed(sent: Any) -> ChatRequest:
    """The request of a body."""
    return parse_chat_request(json.dumps(sent).encode())


def refusal(sent: Any) -> Refusal:
    """The refusal of a body."""
    with pytest.raises(Refusal) as caught:
        parsed(sent)
    return caught.value
