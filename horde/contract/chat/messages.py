"""The `messages` of a chat request: roles, contents, parts, tool calls.

Chat reference, Request body, Images and Tools.
"""

from collections.abc import Iterator
from typing import Any

from horde.contract import limits
from horde.contract.chat import saying
from horde.contract.chat.images import check_image_caps
from horde.contract.chat.request import Message

_NAMED_ROLES = frozenset({"system", "developer", "user"})
_ROLE_KEYS = {
    **dict.fromkeys(_NAMED_ROLES, frozenset({"role", "content", "name"})),
    # decision R2: an assistant may carry a name as well
    "assistant": frozenset({"role", "content", "name", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_IMAGE_DETAILS = ("auto", "low", "high")
_IMAGE_SCHEMES = ("http://", "https://")


def parse_messages(value: object) -> list[Message]:
    """The messages as they are stored. Raises Refusal with the path of the first thing that is wrong."""
    sent = saying.listing(value, "messages")
    if not sent:
        raise saying.wrong("messages", "at least one message is wanted.")
    if len(sent) > limits.MAX_CHAT_MESSAGE_COUNT:
        raise saying.unsupported("messages", f"a chat request has at most {limits.MAX_CHAT_MESSAGE_COUNT} messages.")
    stored = [_message(each, f"messages[{position}]") for position, each in enumerate(sent)]
    # the length in bytes of plain ASCII is known without making them
    size = sum(len(text) if text.isascii() else len(text.encode()) for text in counted_texts(stored))
    if size > limits.MAX_CHAT_TEXT_BYTES:
        raise saying.unsupported(
            "messages", f"the messages of a chat request hold at most {limits.MAX_CHAT_TEXT_BYTES} bytes of text."
        )
    check_image_caps(stored)
    return stored


def counted_texts(messages: list[Message]) -> Iterator[str]:
    """Every text that counts against MAX_CHAT_TEXT_BYTES: contents, text parts, and tool calls' names and arguments."""
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            yield content
        elif content is not None:
            yield from (part["text"] for part in content if part["type"] == "text")
        for call in message.get("tool_calls", ()):
            yield call["function"]["name"]
            yield call["function"]["arguments"]


def _message(value: object, path: str) -> Message:
    sent = saying.mapping(value, path)
    role = saying.text(sent.get("role"), f"{path}.role")
    keys = _ROLE_KEYS.get(role)
    if keys is None:
        raise saying.unsupported_value(f"{path}.role", role)
    saying.refuse_unknown_keys(sent, keys, f"{path}.")
    message: Message = {"role": "system" if role == "developer" else role}
    calls = sent.get("tool_calls")
    if calls is not None:
        message["tool_calls"] = _tool_calls(calls, f"{path}.tool_calls")
    message["content"] = _content(sent.get("content"), role, f"{path}.content", may_be_null=calls is not None)
    if sent.get("name") is not None:
        message["name"] = saying.text(sent["name"], f"{path}.name")
    if role == "tool":
        message["tool_call_id"] = _call_id(sent.get("tool_call_id"), f"{path}.tool_call_id")
    return message


def _content(value: object, role: str, path: str, *, may_be_null: bool) -> str | list[dict[str, Any]] | None:
    if isinstance(value, str) or (value is None and may_be_null):
        return value
    if not isinstance(value, list):
        raise saying.wrong(path, "a string or an array of parts is wanted.")
    return [_part(part, role, f"{path}[{position}]") for position, part in enumerate(value)]


def _part(value: object, role: str, path: str) -> dict[str, Any]:
    part = saying.mapping(value, path)
    kind = saying.text(part.get("type"), f"{path}.type")
    if kind == "text":
        saying.refuse_unknown_keys(part, {"type", "text"}, f"{path}.")
        return {"type": kind, "text": saying.text(part.get("text"), f"{path}.text")}
    if kind != "image_url" or role != "user":
        raise saying.unsupported_value(f"{path}.type", kind)
    saying.refuse_unknown_keys(part, {"type", "image_url"}, f"{path}.")
    image = saying.mapping(part.get("image_url"), f"{path}.image_url")
    saying.refuse_unknown_keys(image, {"url", "detail"}, f"{path}.image_url.")
    url = saying.text(image.get("url"), f"{path}.image_url.url")
    if not _is_image_url(url):
        raise saying.unsupported(
            f"{path}.image_url.url", "a data:image/…;base64, URL or an http(s) URL is wanted for an image."
        )
    kept = {"url": url}
    if image.get("detail") is not None:
        detail = saying.text(image["detail"], f"{path}.image_url.detail")
        if detail not in _IMAGE_DETAILS:
            raise saying.unsupported_value(f"{path}.image_url.detail", detail)
        kept["detail"] = detail
    return {"type": kind, "image_url": kept}


def _is_image_url(url: str) -> bool:
    start = url[:200].lower()
    if start.startswith("data:image/"):
        return ";base64," in start
    return start.startswith(_IMAGE_SCHEMES)


def _tool_calls(value: object, path: str) -> list[dict[str, Any]]:
    calls = saying.listing(value, path)
    if not calls:
        raise saying.wrong(path, "at least one tool call is wanted; leave the key out for none.")
    if len(calls) > limits.MAX_CHAT_TOOL_CALL_COUNT:
        raise saying.unsupported(path, f"a message has at most {limits.MAX_CHAT_TOOL_CALL_COUNT} tool calls.")
    return [_tool_call(call, f"{path}[{position}]") for position, call in enumerate(calls)]


def _tool_call(value: object, path: str) -> dict[str, Any]:
    call = saying.mapping(value, path)
    saying.refuse_unknown_keys(call, {"id", "type", "function"}, f"{path}.")
    kind = saying.text(call.get("type"), f"{path}.type")
    if kind != "function":
        raise saying.unsupported_value(f"{path}.type", kind)
    function = saying.mapping(call.get("function"), f"{path}.function")
    saying.refuse_unknown_keys(function, {"name", "arguments"}, f"{path}.function.")
    name = saying.text(function.get("name"), f"{path}.function.name")
    if not name:
        raise saying.wrong(f"{path}.function.name", "a name is wanted.")
    arguments = saying.text(function.get("arguments"), f"{path}.function.arguments")
    return {
        "id": _call_id(call.get("id"), f"{path}.id"),
        "type": kind,
        "function": {"name": name, "arguments": arguments},
    }


def _call_id(value: object, path: str) -> str:
    call_id = saying.text(value, path)
    if not 1 <= len(call_id) <= limits.MAX_TOOL_CALL_ID_LENGTH:
        raise saying.wrong(path, f"1 to {limits.MAX_TOOL_CALL_ID_LENGTH} characters are wanted.")
    return call_id
