"""The messages of a conversation as clients replay them, in the shape the native route takes.

Clients append the message object they were given, and their SDK serialises every field it holds. What only a reply
has is dropped here. Nothing is reordered or made up. Contract: clients-and-front 3.2, history hygiene.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_ONLY_IN_REPLIES = frozenset({"reasoning_content", "reasoning", "reasoning_details", "parsed", "annotations"})


@dataclass(frozen=True, slots=True)
class History:
    """The messages to send on, and how many characters of text they hold."""

    messages: object
    characters: int


def cleaned(messages: object) -> History:
    """The messages without what only replies have. What is no message at all stays, for admission to refuse."""
    if not isinstance(messages, list):
        return History(messages, 0)
    kept = [_message(message) if isinstance(message, dict) else message for message in messages]
    return History(kept, sum(_characters(message) for message in kept if isinstance(message, dict)))


def _message(sent: Mapping[str, object]) -> dict[str, object]:
    message = {key: value for key, value in sent.items() if value is not None}
    role = message.get("role")
    if role == "tool":
        # Old recipes name the function here; only the id counts.
        message.pop("name", None)
    content = message.get("content")
    if isinstance(content, list):
        message["content"] = [_part(part, role) for part in content]
    if role == "assistant":
        _assistant(message)
    return message


def _assistant(message: dict[str, object]) -> None:
    for key in _ONLY_IN_REPLIES:
        message.pop(key, None)
    calls = message.get("tool_calls")
    if calls == []:
        del message["tool_calls"]
    elif isinstance(calls, list):
        message["tool_calls"] = [_call(call) for call in calls]
    refusal = message.get("refusal")
    if isinstance(refusal, str):
        del message["refusal"]
        if refusal:
            message["content"] = _with_text(message.get("content"), refusal)
    if "content" not in message and "tool_calls" not in message:
        # An empty reply, replayed: the SDKs give it back as null.
        message["content"] = ""


def _with_text(content: object, text: str) -> object:
    """The content with one more text behind it."""
    match content:
        case None | "" | []:
            return text
        case list():
            return [*content, {"type": "text", "text": text}]
        case str():
            return f"{content}\n{text}"
        case _:
            return content


def _call(sent: object) -> object:
    """A tool call as it was made: SDKs add `index` and `function.parsed_arguments`."""
    if not isinstance(sent, dict):
        return sent
    call: dict[str, object] = {key: sent[key] for key in ("id", "type", "function") if sent.get(key) is not None}
    function = call.get("function")
    if isinstance(function, dict):
        call["function"] = {key: function[key] for key in ("name", "arguments") if function.get(key) is not None}
    return call


def _part(sent: object, role: object) -> object:
    if not isinstance(sent, dict):
        return sent
    if sent.get("type") == "refusal" and role == "assistant":
        return {"type": "text", "text": sent.get("refusal")}
    return {key: value for key, value in sent.items() if value is not None}


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _characters(message: Mapping[str, object]) -> int:
    content = message.get("content")
    if isinstance(content, str):
        return len(content)
    texts = (part.get("text") for part in _items(content) if isinstance(part, dict))
    return sum(len(text) for text in texts if isinstance(text, str))
