"""Chat bodies alone: the CPU time in which the largest ones are taken or refused, in this process, without a system."""

import json
from collections.abc import Callable
from time import perf_counter, process_time

from horde.cli.bench.report import Report
from horde.contract import limits
from horde.contract.chat import parse_chat_request
from horde.contract.refusal import Refusal

_TEXT_BYTES = 1000 * 1024
"""Of all messages together: just under the limit, so that the body is taken."""


def _filled() -> bytes:
    """1 MiB of messages with 128 tools, each tool with a schema of its own: everything at its limit, and right."""
    messages = [
        {
            "role": "user" if number % 2 else "assistant",
            "content": "Fish live in the sea. " * (_TEXT_BYTES // 22 // 512),
        }
        for number in range(512)
    ]
    properties = {f"field_{number}": {"type": "string", "enum": ["a", "b"]} for number in range(25)}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    tools = [
        {"type": "function", "function": {"name": f"tool_{number}", "strict": True, "parameters": parameters}}
        for number in range(limits.MAX_CHAT_TOOL_COUNT)
    ]
    return json.dumps({"model": "m", "messages": messages, "tools": tools}).encode()


def _at_the_limit(before: bytes, unit: bytes, after: bytes) -> bytes:
    """The largest body there is, of one thing repeated."""
    return before + unit * ((limits.MAX_CHAT_BODY_BYTES - len(before) - len(after)) // len(unit)) + after


_SAYING = b'{"model":"m","messages":[{"role":"user","content":"'

BODIES: dict[str, Callable[[], bytes]] = {
    "taken: 1 MiB and 128 tools": _filled,
    "refused: one long text": lambda: _at_the_limit(_SAYING, b"a", b'"}]}'),
    "refused: a text of pairs": lambda: _at_the_limit(_SAYING, b"\\ud83d\\ude00", b'"}]}'),
    "refused: a text without its end": lambda: _at_the_limit(_SAYING, b"a", b""),
    "refused: nothing but brackets": lambda: _at_the_limit(b"", b"[", b""),
    "refused: tiny objects": lambda: _at_the_limit(b'{"messages":[', b"{},", b"{}]}"),
}
"""By what becomes of them."""


def measure(*, seconds: float) -> Report:
    """Each body again and again for its share of so many seconds. Durations are CPU time."""
    calls: dict[str, list[float]] = {}
    began = perf_counter()
    for name, made in BODIES.items():
        body = made()
        times = calls[name] = []
        ends_at = perf_counter() + seconds / len(BODIES)
        while not times or perf_counter() < ends_at:
            started = process_time()
            try:
                parse_chat_request(body)
                was_taken = True
            except Refusal:
                was_taken = False
            times.append(process_time() - started)
            if was_taken != name.startswith("taken"):
                raise AssertionError(f"{name}: it was not")
    elapsed = perf_counter() - began
    count = sum(map(len, calls.values()))
    return Report("validation, CPU time", "parse", count / elapsed, elapsed, calls, {}, {})
