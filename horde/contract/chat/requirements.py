"""What a worker has to declare for a request, by horde-sdk's own derivation; and what of the body is kept for it."""

from collections.abc import Sequence
from typing import Any

from horde.contract import limits
from horde.contract.chat.request import ChatRequest, Message
from horde.contract.vocabulary import chat_policy

STREAM_KEY = "stream_progress"
"""The stream hint's key in `chat_extras` and in a job's payload. Chat reference, Streaming progress."""


def required_features(request: ChatRequest, messages: Sequence[Message]) -> list[str]:
    """Capabilities and guarantees, sorted; `messages` are those that are kept."""
    needed = chat_policy.chat_request_requirements(
        {
            **{key: value for key, value in request.sampling.items() if key != "stop_sequence"},
            "messages": messages,
            "tools": request.tools,
            "tool_choice": request.tool_choice,
            "parallel_tool_calls": request.parallel_tool_calls,
            "response_format": request.response_format,
            "horde": {"conformance": request.horde.conformance},
        }
    )
    return sorted(needed.declarations)


def tools_temperature(request: ChatRequest) -> float | None:
    """The temperature the job carries when it forwards tools, else None. Chat reference, Tool temperature limit."""
    if not request.tools or request.tool_choice == "none":
        return None
    return float(request.sampling.get("temperature", limits.CHAT_SAMPLING_DEFAULTS["temperature"]))


def chat_extras(request: ChatRequest) -> dict[str, Any]:
    """What of tools and format changes the answer, in the client's own shape (decision R9), without the stream hint."""
    extras: dict[str, Any] = {}
    if request.tools:
        extras["tools"] = request.tools
        if request.tool_choice not in {None, "auto"} if isinstance(request.tool_choice, str | None) else True:
            extras["tool_choice"] = request.tool_choice
        if request.parallel_tool_calls is False:
            extras["parallel_tool_calls"] = False
    if request.response_format is not None:
        extras["response_format"] = request.response_format
    return extras
