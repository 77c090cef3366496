"""The texts that moderation reads, and how its rewrite comes back into the messages.

Chat reference, Flattened prompt.
"""

from collections.abc import Iterator, Sequence

from horde.contract.chat.request import Message


def screened_texts(messages: Sequence[Message]) -> list[str]:
    """Every message text in order: string contents and text parts. Tool calls are JSON and stay out."""
    return list(_texts(messages))


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            yield content
        elif content is not None:
            yield from (part["text"] for part in content if part["type"] == "text")


def with_texts(messages: Sequence[Message], texts: Sequence[str]) -> list[Message]:
    """The messages with their texts replaced, one for one. Raises ValueError when the numbers differ."""
    if len(texts) != len(screened_texts(messages)):
        raise ValueError(f"{len(texts)} texts came back for {len(screened_texts(messages))}")
    left = iter(texts)
    rewritten: list[Message] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            rewritten.append({**message, "content": next(left)})
        elif content is None:
            rewritten.append(message)
        else:
            parts = [{**part, "text": next(left)} if part["type"] == "text" else part for part in content]
            rewritten.append({**message, "content": parts})
    return rewritten
