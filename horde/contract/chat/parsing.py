"""One chat body, checked and mapped. The order of the checks is the order of this file's main function."""

from collections.abc import Mapping
from typing import Any

from horde.contract import limits, strict_json
from horde.contract.chat import saying
from horde.contract.chat.horde_options import parse_horde_options
from horde.contract.chat.messages import counted_texts, parse_messages
from horde.contract.chat.overlong import shortened
from horde.contract.chat.request import ChatRequest
from horde.contract.chat.tool_history import check_tool_history
from horde.contract.chat.tools import parse_tool_controls
from horde.contract.nul import NUL, refuse_nul
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_policy

_TOKEN_KEYS = ("max_tokens", "max_completion_tokens")
_RANGES: Mapping[str, tuple[float, float]] = {
    # base-domain 3.2, decision R4
    "temperature": (0, 5),
    "top_p": (0.001, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
}
_NOT_APPLIED = ("stream_options", "user", "metadata")
"""Accepted, and neither applied nor stored."""

_KEYS = frozenset(
    {
        *_TOKEN_KEYS,
        *_RANGES,
        *("model", "models", "messages", "seed", "reasoning_effort", "stop", "n", "horde"),
        *("stream", *_NOT_APPLIED),
        *("tools", "tool_choice", "parallel_tool_calls", "response_format"),
    }
)
_EFFORTS = frozenset(effort.value for effort in chat_policy.ChatReasoningEffort)
_SEEDS = range(-(2**63), 2**63)
"""OpenAI's range: what a signed 64-bit integer holds."""

_JSON_WORD = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."


def parse_chat_request(body: bytes) -> ChatRequest:
    """The request of a JSON body.

    Raises Refusal: BadRequest, UnsupportedChatParameter, ChatRequestConflict, NulByteInPayload, or an image cap's.
    """
    _refuse_overlong(body)
    sent = strict_json.loads_object(body)
    if NUL in body:
        refuse_nul({key: value for key, value in sent.items() if key not in _NOT_APPLIED}, "")
    return _checked(sent)


def _refuse_overlong(body: bytes) -> None:
    """Refuses a body with far too much text as it would be refused in the end, without reading all of it."""
    cut = shortened(body)
    if cut is None:
        return
    try:
        sent = strict_json.loads_object(cut)
    except Refusal as wrong:
        # which names a place: it has to be the place in the whole body, as that of a string that never ends is
        if "Unterminated string" in wrong.message and body.startswith(cut):
            raise
        return
    _checked(sent)


def _checked(sent: Mapping[str, Any]) -> ChatRequest:
    saying.refuse_unknown_keys(sent, _KEYS, "")
    horde = parse_horde_options(sent.get("horde"))
    models = _models(sent)
    messages = parse_messages(sent.get("messages"))
    check_tool_history(messages)
    controls = parse_tool_controls(sent)
    if sent.get("n") is not None and saying.integer(sent["n"], "n") != 1:
        raise saying.unsupported_value("n", sent["n"])
    request = ChatRequest(
        models=models,
        is_model_list=sent.get("models") is not None,
        messages=messages,
        sampling=_sampling(sent),
        max_length=_max_length(sent),
        tools=controls.tools,
        tool_choice=controls.tool_choice,
        parallel_tool_calls=controls.parallel_tool_calls,
        response_format=controls.response_format,
        stream=sent.get("stream") is not None and saying.flag(sent["stream"], "stream"),
        horde=horde,
    )
    _apply_guards(request)
    return request


def _models(sent: Mapping[str, object]) -> tuple[str, ...]:
    one, several = sent.get("model"), sent.get("models")
    if one is not None and several is not None:
        raise saying.conflict("models", "A request sends exactly one of 'model' and 'models'.")
    if several is None:
        if one is None:
            raise saying.wrong("model", "one of 'model' and 'models' is wanted.")
        if not saying.text(one, "model"):
            raise saying.wrong("model", "a model's name is wanted.")
        return (str(one),)
    listed = saying.listing(several, "models")
    if not 1 <= len(listed) <= limits.MAX_CHAT_MODEL_COUNT:
        raise saying.wrong("models", f"1 to {limits.MAX_CHAT_MODEL_COUNT} models are wanted.")
    names = tuple(saying.text(name, f"models[{position}]") for position, name in enumerate(listed))
    for position, name in enumerate(names):
        if not name:
            raise saying.wrong(f"models[{position}]", "a model's name is wanted.")
        if name in names[:position]:
            raise saying.wrong(f"models[{position}]", "each model is listed once.")
    return names


def _max_length(sent: Mapping[str, object]) -> int:
    asked = {key: saying.integer(sent[key], key) for key in _TOKEN_KEYS if sent.get(key) is not None}
    if len(set(asked.values())) > 1:
        raise saying.conflict(
            "max_completion_tokens", "'max_tokens' and 'max_completion_tokens' have different values."
        )
    for key, length in asked.items():
        if not limits.MIN_CHAT_MAX_LENGTH <= length <= limits.MAX_CHAT_MAX_LENGTH:
            raise saying.out_of_range(
                key, f"{length} is not in {limits.MIN_CHAT_MAX_LENGTH} to {limits.MAX_CHAT_MAX_LENGTH}."
            )
    return next(iter(asked.values()), limits.DEFAULT_CHAT_MAX_LENGTH)


def _sampling(sent: Mapping[str, object]) -> dict[str, Any]:
    """The mapped text params that were sent, `stop` under its text name."""
    mapped: dict[str, Any] = {}
    for key, (least, most) in _RANGES.items():
        if sent.get(key) is not None:
            value = saying.number(sent[key], key)
            if not least <= value <= most:
                raise saying.out_of_range(key, f"{value} is not in {least} to {most}.")
            mapped[key] = value
    if sent.get("seed") is not None:
        seed = saying.integer(sent["seed"], "seed")
        if seed not in _SEEDS:
            raise saying.out_of_range("seed", "a 64-bit whole number is wanted.")
        mapped["seed"] = seed
    effort = sent.get("reasoning_effort")
    if effort is not None:
        if not isinstance(effort, str) or effort not in _EFFORTS:
            raise saying.wrong("reasoning_effort", f"one of {', '.join(sorted(_EFFORTS))} is wanted.")
        mapped["reasoning_effort"] = effort
    if sent.get("stop") is not None:
        mapped["stop_sequence"] = _stops(sent["stop"])
    return mapped


def _stops(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise saying.wrong("stop", "a string or an array of strings is wanted.")
    return [saying.text(each, f"stop[{position}]") for position, each in enumerate(value)]


def _apply_guards(request: ChatRequest) -> None:
    """`horde.openai_guards`: the refusals OpenAI applies and this system relaxes."""
    response_format = request.response_format
    if not request.horde.openai_guards or response_format is None or response_format["type"] != "json_object":
        return
    if not any("json" in text.lower() for text in counted_texts(list(request.messages))):
        raise saying.conflict("messages", _JSON_WORD)
