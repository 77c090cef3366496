"""The messages as one string, the token estimate read from it, and which turns go first when they do not fit.

Chat reference, Flattened prompt and Context adjustments. An estimate only: workers never receive it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from horde.contract import limits
from horde.contract.chat.request import Message

IMAGE_PLACEHOLDER = "[image]"


def flatten(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> str:
    """`role: text` for each message, then the compact JSON of the tools."""
    lines = [flatten_message(message) for message in messages]
    if tools:
        lines.append(_compact(tools))
    return "\n".join(lines)


def flatten_message(message: Message) -> str:
    """One message: its parts, then its tool calls, joined by newlines behind its role."""
    content = message["content"]
    if isinstance(content, list):
        parts = [part["text"] if part["type"] == "text" else IMAGE_PLACEHOLDER for part in content]
    else:
        parts = [content] if content else []
    if message.get("tool_calls"):
        parts.append(_compact(message["tool_calls"]))
    return f"{message['role']}: {'\n'.join(parts)}"


def estimate_tokens(characters: int, images: int) -> int:
    """Tokens of a flattened prompt of so many characters, its images included."""
    return -(-characters // limits.CHARACTERS_PER_PROMPT_TOKEN) + images * limits.CHAT_IMAGE_PROMPT_TOKENS


@dataclass(frozen=True, slots=True)
class Truncation:
    """Which messages stay, and the token estimates before and after."""

    kept: list[Message]
    before: int
    after: int

    def dropped(self, of: Sequence[Message]) -> int:
        """How many messages went."""
        return len(of) - len(self.kept)


def truncate_oldest(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], most_tokens: int
) -> Truncation | None:
    """Drops whole turns from the oldest forward until the estimate is at most `most_tokens`; None when it never is.

    System messages, the latest user message and everything after it stay.
    """
    sizes = [(len(flatten_message(message)) + 1, _images(message)) for message in messages]
    # one newline stands between two lines, so one fewer than there are lines
    characters = sum(size for size, _ in sizes) - 1 + (len(_compact(tools)) + 1 if tools else 0)
    images = sum(count for _, count in sizes)
    before = estimate_tokens(characters, images)
    gone: set[int] = set()
    turns = droppable_turns(messages)
    while estimate_tokens(characters, images) > most_tokens:
        turn = next(turns, None)
        if turn is None:
            return None
        gone.update(turn)
        characters -= sum(sizes[position][0] for position in turn)
        images -= sum(sizes[position][1] for position in turn)
    kept = [message for position, message in enumerate(messages) if position not in gone]
    if not kept:  # without a message of a user there is a last turn too
        return None
    return Truncation(kept, before, estimate_tokens(characters, images))


def droppable_turns(messages: Sequence[Message]) -> Iterator[range]:
    """The turns that may go, oldest first, as ranges of positions. Decision R1."""
    latest_user = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=None)
    end = len(messages) if latest_user is None else latest_user
    position = 0
    while position < end:
        after = position + 1
        if messages[position]["role"] == "user" and after < end and messages[after]["role"] == "assistant":
            after += 1
        # calls and their answers are never parted
        while after < end and messages[after]["role"] == "tool":
            after += 1
        if messages[position]["role"] != "system":
            yield range(position, after)
        position = after


def _images(message: Message) -> int:
    content = message["content"]
    return sum(1 for part in content if part["type"] == "image_url") if isinstance(content, list) else 0


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
