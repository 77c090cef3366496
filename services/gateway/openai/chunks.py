"""The bytes of an event stream. Contract: clients-and-front 3.5.

A chunk is one concatenation: everything but its text is rendered once per stream.
"""

from collections.abc import Iterator, Sequence

import orjson

from services.gateway.openai.completion import Asked, called, extension, system_fingerprint, usage
from services.gateway.openai.reply import Reply, Standing

DONE = b"data: [DONE]\n\n"

KEEP_ALIVE = b": keepalive\n"
"""A comment without the blank line: some clients take a blank line for an event without data."""

_LINE_ENDS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
"""Characters inside texts at which many clients split lines, and how JSON writes them otherwise."""


def packed(value: object) -> bytes:
    """JSON that has no line end of any kind in it."""
    return _on_one_line(orjson.dumps(value))


def error_event(body: bytes) -> bytes:
    """An error inside a stream; `body` is its JSON."""
    return b"data: " + _on_one_line(body) + b"\n\n"


def _on_one_line(json: bytes) -> bytes:
    for character, escaped in _LINE_ENDS:
        if character in json:
            json = json.replace(character, escaped)
    return json


class Chunks:
    """All chunks of one stream. They agree in id, time, model and fingerprint."""

    __slots__ = ("_asked", "_head", "_include_usage", "_tail")

    def __init__(self, asked: Asked, worker_id: str, model: str, *, include_usage: bool) -> None:
        head = {
            "id": asked.completion_id,
            "object": "chat.completion.chunk",
            "created": asked.created,
            "model": model,
            "system_fingerprint": system_fingerprint(worker_id, model),
        }
        self._asked = asked
        self._include_usage = include_usage
        self._head = b"data: " + packed(head)[:-1]
        self._tail = b',"usage":null}\n\n' if include_usage else b"}\n\n"

    def role(self) -> bytes:
        """The first chunk."""
        return self._delta(b'{"role":"assistant","content":""}')

    def empty(self) -> bytes:
        """A chunk that says nothing, to keep the connection open."""
        return self._delta(b"{}")

    def reasoning(self, text: str) -> bytes:
        """A piece of reasoning."""
        return self._delta(b'{"reasoning_content":' + packed(text) + b"}")

    def content(self, text: str) -> bytes:
        """A piece of the answer."""
        return self._delta(b'{"content":' + packed(text) + b"}")

    def tool_calls(self, reply: Reply) -> Iterator[bytes]:
        """Each call: first its id and name, then its arguments alone, since clients join what is repeated."""
        for index, call in enumerate(reply.tool_calls):
            function = called(call)
            opening = {
                "index": index,
                "id": call.get("id"),
                "type": "function",
                "function": {"name": function["name"], "arguments": ""},
            }
            yield self._delta(packed({"tool_calls": [opening]}))
            following = {"index": index, "function": {"arguments": function["arguments"]}}
            yield self._delta(packed({"tool_calls": [following]}))

    def finish(self, reason: str) -> bytes:
        """The last chunk with a choice."""
        return self._delta(b"{}", b'"' + reason.encode() + b'"')

    def usage(self, reply: Reply, standing: Standing) -> Sequence[bytes]:
        """The chunk that counts, if it was asked for."""
        if not self._include_usage:
            return ()
        counted = packed(usage(self._asked, reply))
        told = packed(extension(self._asked, reply, standing))
        return (self._head + b',"choices":[],"usage":' + counted + b',"horde":' + told + b"}\n\n",)

    def _delta(self, delta: bytes, finish_reason: bytes = b"null") -> bytes:
        return b"".join(
            (
                self._head,
                b',"choices":[{"index":0,"delta":',
                delta,
                b',"logprobs":null,"finish_reason":',
                finish_reason,
                b"}]",
                self._tail,
            )
        )
