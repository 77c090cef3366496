"""A reply as it grows: content, reasoning, tool calls, and why it ended. Pure."""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from horde.contract.limits import MAX_NATIVE_FINISH_REASON_LENGTH, MAX_REPORTED_TOKENS
from horde.contract.vocabulary import chat_declaration

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Splits a leading `<think>` block off a stream of text, wherever the pieces are cut.

    Only a block that the reply begins with is reasoning; one that is never closed is reasoning to its end.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    def feed(self, piece: str) -> tuple[str, str]:
        """(content, reasoning) that is certain now."""
        self._held += piece
        reasoning = ""
        if self._state == "before":
            text = self._held.lstrip()
            if not text or (len(text) < len(_OPEN) and _OPEN.startswith(text)):
                return "", ""
            if not text.startswith(_OPEN):
                self._state = "content"
            else:
                self._state, self._held = "inside", text.removeprefix(_OPEN)
        if self._state == "inside":
            end = self._held.find(_CLOSE)
            if end < 0:
                keep = _overlap(self._held, _CLOSE)
                reasoning, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
                return "", reasoning
            reasoning, self._held = self._held[:end], self._held[end + len(_CLOSE) :]
            self._state = "after"
        if self._state == "after":
            # Templates put blank lines between the block and the answer; they are part of neither.
            self._held = self._held.lstrip()
            if self._held:
                self._state = "content"
        content, self._held = self._held, ""
        return content, reasoning

    def finish(self) -> tuple[str, str]:
        """(content, reasoning) that was held back."""
        held, self._held = self._held, ""
        if self._state == "inside":
            return "", held
        return ("", "") if self._state == "after" else (held, "")


def _overlap(text: str, tag: str) -> int:
    """How many last characters of `text` may be the beginning of `tag`."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)


@dataclass(slots=True)
class Reply:
    """What the backend has said so far."""

    content: str = ""
    reasoning: str = ""
    native_finish_reason: str | None = None
    usage: chat_declaration.ChatUsage | None = None
    _halves: dict[str, str] = field(default_factory=dict)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    _splitter: ThinkSplitter = field(default_factory=ThinkSplitter)

    def take(self, chunk: dict[str, Any]) -> None:
        """Adds one chunk of an OpenAI stream. Raises KeyError, TypeError or AttributeError for one that is none."""
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            self.reasoning += self._whole("reasoning", delta.get("reasoning_content") or delta.get("reasoning") or "")
            self._add(*self._splitter.feed(self._whole("content", delta.get("content") or "")))
            for call in delta.get("tool_calls") or ():
                self._take_call(call)
            if choice.get("finish_reason"):
                self.native_finish_reason = str(choice["finish_reason"])
        if chunk.get("usage"):
            self.usage = _usage(chunk["usage"])

    def finish(self) -> None:
        """Nothing more comes."""
        self._add(*self._splitter.finish())

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls in the order the backend numbered them."""
        return [call for _, call in sorted(self._calls.items())]

    @property
    def finish_reason(self) -> chat_declaration.ChatFinishReason:
        """The horde's word for why it ended. A backend that calls tools says so in several ways."""
        reasons = chat_declaration.ChatFinishReason
        match self.native_finish_reason:
            case "length" | "max_tokens":
                return reasons.LENGTH
            case "content_filter":
                return reasons.CONTENT_FILTER
            case "tool_calls" | "function_call" if self._calls:
                return reasons.TOOL_CALLS
        return reasons.STOP

    def submit_body(self, job_id: str, model: str) -> dict[str, Any]:
        """The submit of this reply."""
        message: dict[str, Any] = {"content": self.content or (None if self._calls else "")}
        if self._calls:
            message["tool_calls"] = json.loads(_without_halves(json.dumps(self.tool_calls, ensure_ascii=False)))
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        native = self.native_finish_reason
        return chat_declaration.build_chat_reply_submit(
            job_id,
            model,
            message,
            self.finish_reason,
            self.usage,
            native_finish_reason=native[:MAX_NATIVE_FINISH_REASON_LENGTH] if native else None,
        )

    def _whole(self, stream: str, piece: str) -> str:
        """The piece in whole characters: a surrogate pair that was cut is put together, a lone half replaced."""
        piece = self._halves.pop(stream, "") + piece
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            self._halves[stream] = piece[-1]
            piece = piece[:-1]
        return _without_halves(piece)

    def _add(self, content: str, reasoning: str) -> None:
        self.content += content
        self.reasoning += reasoning

    def _take_call(self, delta: dict[str, Any]) -> None:
        number = int(delta.get("index", len(self._calls)))
        function = delta.get("function") or {}
        call = self._calls.get(number)
        if call is None:
            # A call must have an id to be answered; a backend that mints none leaves it to us.
            call = {"id": f"call_{uuid.uuid4().hex}", "type": "function", "function": {"name": "", "arguments": ""}}
            self._calls[number] = call
        if delta.get("id"):
            call["id"] = delta["id"]
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


def _without_halves(text: str) -> str:
    """Halves of surrogate pairs cannot be sent; neighbours that belong together become the character they are."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _usage(reported: dict[str, Any]) -> chat_declaration.ChatUsage:
    details = reported.get("completion_tokens_details") or {}
    return chat_declaration.ChatUsage(
        prompt_tokens=_count(reported.get("prompt_tokens")),
        completion_tokens=_count(reported.get("completion_tokens")),
        reasoning_tokens=_count(details.get("reasoning_tokens")),
    )


def _count(reported: object) -> int | None:
    """A count that the horde takes; a strange one is left out rather than costing the reply."""
    is_count = isinstance(reported, int) and not isinstance(reported, bool) and 0 <= reported <= MAX_REPORTED_TOKENS
    return reported if is_count and isinstance(reported, int) else None
