"""The payload of a popped job, to the key. Chat reference, Chat job pop response; base-domain 3.2 and 4.8.

Messages can be a megabyte: without images their stored JSON text goes into the payload as it is, never parsed.
"""

import json
from collections.abc import Mapping
from typing import Any

from horde.contract.chat.images import with_image_urls
from horde.contract.limits import CHAT_SAMPLING_DEFAULTS

_ONLY_WHEN_SENT = ("stop_sequence", "seed", "reasoning_effort")

_TEXT_DEFAULTS: Mapping[str, float] = {
    "min_p": 0.0,
    "smoothing_factor": 0.0,
    "dynatemp_range": 0.0,
    "dynatemp_exponent": 1.0,
}
"""What a text job carries although the client did not send it; the two lengths are the other defaults."""

_TEXT_SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "top_a",
    "typical",
    "tfs",
    "rep_pen",
    "rep_pen_range",
    "rep_pen_slope",
    "sampler_order",
    "stop_sequence",
    "singleline",
    "frmtadsnsp",
    "frmtrmblln",
    "frmtrmspch",
    "frmttriminc",
    "use_default_badwordsids",
)


def chat_payload(
    *,
    messages: str,
    params: str,
    extras: str | None,
    max_length: int,
    max_context_length: int,
    images: Mapping[str, str],
    messages_url: str | None = None,
) -> bytes:
    """A chat job. JSON texts in as stored, JSON out; `images` gives the URL of each object key.

    `messages_url` takes the place of the messages.
    """
    sent: dict[str, Any] = json.loads(params)
    payload: dict[str, Any] = narrowed(json.loads(extras) if extras else {})
    payload |= _filled(sent, CHAT_SAMPLING_DEFAULTS)
    payload |= {key: sent[key] for key in _ONLY_WHEN_SENT if sent.get(key) is not None}
    payload |= {"max_length": max_length, "max_context_length": max_context_length, "n": 1}
    if messages_url is not None:
        return _dumped({"messages_url": messages_url, **payload}).encode()
    spoken = _dumped(with_image_urls(json.loads(messages), images)) if images else messages
    return f'{{"messages":{spoken},{_dumped(payload)[1:]}'.encode()


def text_payload(*, prompt: str, params: str, max_length: int, max_context_length: int) -> bytes:
    """A text job: the declared sampling keys that were sent, the defaults, the prompt."""
    sent: dict[str, Any] = json.loads(params)
    payload: dict[str, Any] = {key: sent[key] for key in _TEXT_SAMPLING if sent.get(key) is not None}
    payload |= _filled(sent, _TEXT_DEFAULTS)
    payload |= {"prompt": prompt, "n": 1, "max_length": max_length, "max_context_length": max_context_length}
    return _dumped(payload).encode()


def narrowed(extras: Mapping[str, Any]) -> dict[str, Any]:
    """The stored extras as a worker is to obey them: no tools under `none`, one tool under a named function."""
    kept = dict(extras)
    choice = kept.get("tool_choice")
    if choice == "none":
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            kept.pop(key, None)
    elif isinstance(choice, Mapping):
        name = choice["function"]["name"]
        kept["tools"] = [tool for tool in kept.get("tools", ()) if tool["function"]["name"] == name]
        kept["tool_choice"] = "required"
    return kept


def _filled(sent: Mapping[str, Any], defaults: Mapping[str, float]) -> dict[str, Any]:
    return {key: default if sent.get(key) is None else sent[key] for key, default in defaults.items()}


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
