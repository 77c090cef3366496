"""A body of /v1/chat/completions as the native body it stands for. Contract: clients-and-front 3.2.

The native route refuses every key it does not know, while unmodified clients send OpenAI's defaults along: a key
that asks for nothing is dropped, one that asks for what the horde cannot do is refused. What both routes check alike
is left to admission, so that a body is judged in one place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from horde.contract import limits, strict_json
from horde.contract.chat.horde_options import parse_horde_options
from horde.contract.vocabulary import chat_limits
from services.gateway.openai.errors import FrontError, invalid
from services.gateway.openai.history import cleaned

_FORWARDED = frozenset(
    {
        *("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "reasoning_effort", "stop"),
        *("tools", "tool_choice", "parallel_tool_calls", "response_format", "max_tokens", "max_completion_tokens"),
    }
)
_LABELS = frozenset(
    {
        *("metadata", "user", "safety_identifier"),
        *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"),
    }
)
"""They tell OpenAI who asks and what to cache; they change no answer."""

_TRANSLATED = frozenset({"model", "models", "messages", "stream", "stream_options", "horde", "include_reasoning"})


def _one_of(values: Sequence[object]) -> Callable[[object], bool]:
    """Equal in value and in kind: in Python `False == 0`, in JSON it is not."""
    return lambda sent: any(sent == value and isinstance(sent, bool) == isinstance(value, bool) for value in values)


_NEUTRAL: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "logprobs": _one_of([False]),
        "top_logprobs": _one_of([0]),
        "logit_bias": _one_of([{}]),
        "modalities": _one_of([["text"]]),
        "store": _one_of([False]),
        "service_tier": _one_of(["auto", "default"]),
        "tools": _one_of([[]]),
        "stop": _one_of([[]]),
        "functions": _one_of([[]]),
        "verbosity": _one_of(["medium"]),
        "n": _one_of([1]),
        "repetition_penalty": _one_of([1]),
        "top_k": _one_of([0, -1]),
        "min_p": _one_of([0]),
    }
)
"""The value of each key that asks for nothing."""

_LEAST_TOP_P = 0.001
"""What the native route takes at least. OpenAI's 0 means the same: only the likeliest token."""

_STREAM_OPTIONS = frozenset({"include_usage", "include_obfuscation"})


type Native = dict[str, object]
"""The native body that asks for a completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a client of the front wants of its answer. The body stands apart: it is big, and soon not needed."""

    stream: bool
    include_usage: bool
    include_reasoning: bool
    fail_fast: bool
    operation_key: UUID | None
    # True when a reply may still be refused after its text was posted, so that none of it may go out early.
    buffered: bool
    prompt_characters: int

    def native(self, body: Native, operation_key: UUID | None) -> bytes:
        """The JSON to submit, with the operation key that an `Idempotency-Key` header stands for."""
        if operation_key is None or operation_key == self.operation_key:
            return strict_json.dumps(body)
        horde = body.get("horde")
        options = {**(horde if isinstance(horde, dict) else {}), "operation_key": str(operation_key)}
        return strict_json.dumps({**body, "horde": options})


def translate(sent: Mapping[str, object], small_max_tokens: Literal["refuse", "raise"]) -> tuple[Completion, Native]:
    """What a body asks for. Raises FrontError, and Refusal for what is wrong in `horde`."""
    body: Native = {}
    for key, value in sent.items():
        if value is None or key in _LABELS or key in _TRANSLATED:
            continue
        neutral = _NEUTRAL.get(key)
        if neutral is not None and neutral(value):
            continue
        if key not in _FORWARDED:
            raise _unsupported(key, value if neutral is not None else None)
        body[key] = value
    _check_ranges(body)
    _check_tokens(body, small_max_tokens)
    _add_models(sent, body)
    history = cleaned(sent.get("messages"))
    body["messages"] = history.messages
    stream = _flag(sent, "stream", default=False)
    if stream:
        body["stream"] = True
    horde = _without_nulls(sent.get("horde"))
    options = parse_horde_options(horde)
    if options.dry_run:
        message = "horde.dry_run asks for a price, which has no place in a completion. The native API quotes prices."
        raise invalid("unsupported_parameter", message, "horde.dry_run")
    if horde:
        body["horde"] = horde
    wanted = Completion(
        stream=stream,
        include_usage=_include_usage(sent.get("stream_options")),
        include_reasoning=options.include_reasoning and _flag(sent, "include_reasoning", default=True),
        fail_fast=options.availability_mode == "fail_fast",
        operation_key=options.operation_key,
        buffered=options.conformance == "strict" and _can_be_refused(body),
        prompt_characters=history.characters,
    )
    return wanted, body


def _unsupported(key: str, value: object) -> FrontError:
    shown = key[:100] if value is None else f"{key[:100]}={strict_json.dumps(value).decode()[:100]}"
    return invalid("unsupported_parameter", f"{shown} is not supported by this horde.", key[:100])


def _flag(sent: Mapping[str, object], key: str, *, default: bool) -> bool:
    value = sent.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _wrong_type(key, "a boolean")
    return value


def _wrong_type(path: str, wanted: str) -> FrontError:
    return invalid("invalid_type", f"Invalid type for '{path}': expected {wanted}.", path)


def _check_ranges(body: dict[str, object]) -> None:
    for key, (least, most) in chat_limits.OPENAI_SAMPLING_RANGES.items():
        value = body.get(key)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise _wrong_type(key, "a number")
        if value < least:
            message = f"Invalid '{key}': decimal below minimum value. Expected a value >= {least}, but got {value}."
            raise invalid("decimal_below_min_value", message, key)
        if value > most:
            message = f"Invalid '{key}': decimal above maximum value. Expected a value <= {most}, but got {value}."
            raise invalid("decimal_above_max_value", message, key)
    if isinstance(body.get("top_p"), int | float):
        body["top_p"] = max(_number(body["top_p"]), _LEAST_TOP_P)
    stops = body.get("stop")
    if isinstance(stops, list) and len(stops) > chat_limits.MAX_CHAT_STOP_SEQUENCES:
        message = (
            f"Invalid 'stop': array too long. Expected an array with maximum length "
            f"{chat_limits.MAX_CHAT_STOP_SEQUENCES}, but got one with length {len(stops)}."
        )
        raise invalid("array_above_max_length", message, "stop")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _check_tokens(body: dict[str, object], small: Literal["refuse", "raise"]) -> None:
    least, most = limits.MIN_CHAT_MAX_LENGTH, limits.MAX_CHAT_MAX_LENGTH
    for key in ("max_tokens", "max_completion_tokens"):
        value = body.get(key)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong_type(key, "an integer")
        if 0 < value < least and small == "raise":
            body[key] = least
        elif value < least:
            message = f"Invalid '{key}': integer below minimum value. Expected a value >= {least}, but got {value}."
            raise invalid("integer_below_min_value", message, key)
        elif value > most:
            message = f"Invalid '{key}': integer above maximum value. Expected a value <= {most}, but got {value}."
            raise invalid("integer_above_max_value", message, key)


def _add_models(sent: Mapping[str, object], body: dict[str, object]) -> None:
    """SDKs always send `model`. Beside `models` it is taken when it is one of them, as OpenRouter does."""
    model, models = sent.get("model"), sent.get("models")
    if models is None:
        if model is not None:
            body["model"] = model
        return
    if model is not None and (not isinstance(models, list) or model not in models):
        raise invalid("conflicting_parameters", "'model' has to be one of 'models' when both are sent.", "model")
    body["models"] = models


def _without_nulls(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in value.items() if inner is not None}


def _include_usage(value: object) -> bool:
    if value is None:
        return False
    if not isinstance(value, dict):
        raise _wrong_type("stream_options", "an object")
    for key in value:
        if key not in _STREAM_OPTIONS and value[key] is not None:
            raise _unsupported(f"stream_options.{key}", None)
    wanted = value.get("include_usage")
    if not isinstance(wanted, bool | None):
        raise _wrong_type("stream_options.include_usage", "a boolean")
    return bool(wanted)


def _can_be_refused(body: Mapping[str, object]) -> bool:
    """Whether a reply that breaks the request's format or tool choice is refused, after its text was posted."""
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "json_object" or kind == "json_schema":  # noqa: PLR1714 - it may be anything, and not all can be in a set
        return True
    choice = body.get("tool_choice")
    return choice == "required" or isinstance(choice, dict)
