"""What a worker hands in: its shape, whether it keeps the request's contract, and what of it is stored.

Sources: chat reference, Structured submit, Reasoning and Reply verification; base-domain 5; decisions R12 to R14.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_declaration

type State = Literal["ok", "censored", "csam"]

FINISH_REASONS = frozenset(reason.value for reason in chat_declaration.ChatFinishReason)
COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")

FAULT_MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "prompt_overflow": "The worker could not fit the prompt into its context.",
        "unbuildable_grammar": (
            "The worker could not build the grammar the request's tool choice or response format needs."
        ),
        "tool_violation": "The model's reply broke the request's tool controls.",
        "reply_refused": "The AI Horde refused the worker's reply.",
        "generation_error": "The worker's backend failed while generating.",
    }
)
"""What is stored for a worker's fault reason. Chat reference, Worker fault reasons."""

_CSAM = {"type": "censorship", "value": "csam"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call, as the backend minted it. `arguments` is JSON text that nobody here reads."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A well-formed chat reply. `content` is None only beside calls; every string is free of NUL."""

    content: str | None
    tool_calls: tuple[ToolCall, ...]
    reasoning: str | None
    finish_reason: str
    native_finish_reason: str | None
    counts: Mapping[str, int]

    @property
    def characters(self) -> int:
        """What is charged and measured: content, reasoning, and the name and arguments of each call."""
        calls = sum(len(call.name) + len(call.arguments) for call in self.tool_calls)
        return len(self.content or "") + len(self.reasoning or "") + calls

    @property
    def is_empty(self) -> bool:
        """No text to show and no call to run."""
        return not self.tool_calls and not (self.content or "").strip()

    def message(self) -> dict[str, object]:
        """The message as it is stored and shown."""
        stored: dict[str, object] = {"role": "assistant", "content": self.content}
        if self.tool_calls:
            stored["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        if self.reasoning is not None:
            stored["reasoning_content"] = self.reasoning
        return stored


def without_nul(text: str) -> str:
    """Postgres stores no NUL, so a replacement character stands in for it."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def parse_chat_reply(
    message: object,
    finish_reason: str | None,
    native_finish_reason: str | None,
    counts: object,
) -> ChatReply:
    """The reply of a chat submit. Raises Refusal(ChatSubmitInvalid).

    `message` and `counts` are JSON values as sent; a native finish reason that is no string stands among the counts.
    """
    if not isinstance(message, dict) or message.get("role") != "assistant":
        raise _invalid("'message' has to be an object with the role 'assistant'.")
    calls = _tool_calls(message.get("tool_calls"))
    content = message.get("content")
    if content is None and not calls:
        raise _invalid("'message.content' may be null only beside 'message.tool_calls'.")
    if content is not None and not isinstance(content, str):
        raise _invalid("'message.content' has to be a string.")
    if finish_reason is None or finish_reason not in FINISH_REASONS:
        raise _invalid(f"'finish_reason' has to be one of {', '.join(sorted(FINISH_REASONS))}.")
    if finish_reason == "tool_calls" and not calls:
        raise _invalid("The finish reason 'tool_calls' needs 'message.tool_calls'.")
    if isinstance(counts, dict) and "native_finish_reason" in counts:
        raise _invalid("'native_finish_reason' has to be a string.")
    if native_finish_reason is not None and len(native_finish_reason) > limits.MAX_NATIVE_FINISH_REASON_LENGTH:
        raise _invalid(
            f"'native_finish_reason' may have at most {limits.MAX_NATIVE_FINISH_REASON_LENGTH} characters,"
            f" not {len(native_finish_reason)}."
        )
    return ChatReply(
        content=None if content is None else without_nul(content),
        tool_calls=calls,
        reasoning=_reasoning(message.get("reasoning_content")),
        finish_reason=finish_reason,
        native_finish_reason=None if native_finish_reason is None else without_nul(native_finish_reason),
        counts=_counts(counts),
    )


def _reasoning(sent: object) -> str | None:
    if sent is None:
        return None
    if not isinstance(sent, str):
        raise _invalid("'message.reasoning_content' has to be a string.")
    size = len(sent.encode("utf-8", "surrogatepass"))
    if size > limits.MAX_CHAT_TEXT_BYTES:
        raise _invalid(
            f"'message.reasoning_content' has {size} bytes; at most {limits.MAX_CHAT_TEXT_BYTES} are accepted."
        )
    return without_nul(sent)


def _tool_calls(sent: object) -> tuple[ToolCall, ...]:
    if sent is None or sent == []:
        return ()
    if not isinstance(sent, list) or len(sent) > limits.MAX_CHAT_TOOL_CALL_COUNT:
        raise _invalid(f"'message.tool_calls' has to be an array of 1 to {limits.MAX_CHAT_TOOL_CALL_COUNT} calls.")
    return tuple(_tool_call(call, f"message.tool_calls[{index}]") for index, call in enumerate(sent))


def _tool_call(sent: object, path: str) -> ToolCall:
    if not isinstance(sent, dict) or sent.get("type") != "function":
        raise _invalid(f"'{path}' has to be an object with the type 'function'.")
    function = sent.get("function")
    if not isinstance(function, dict):
        raise _invalid(f"'{path}.function' has to be an object.")
    return ToolCall(
        id=_text(sent.get("id"), f"{path}.id"),
        name=_text(function.get("name"), f"{path}.function.name"),
        arguments=_text(function.get("arguments"), f"{path}.function.arguments", may_be_empty=True),
    )


def _text(sent: object, path: str, *, may_be_empty: bool = False) -> str:
    if not isinstance(sent, str) or not (sent or may_be_empty):
        raise _invalid(f"'{path}' has to be a{'' if may_be_empty else ' non-empty'} string.")
    return without_nul(sent)


def _counts(sent: object) -> dict[str, int]:
    if sent is None:
        return {}
    if not isinstance(sent, dict):
        raise _invalid("The token counts have to be integers.")
    counts: dict[str, int] = {}
    for name in COUNTS:
        value = sent.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limits.MAX_REPORTED_TOKENS:
            raise _invalid(f"'{name}' has to be an integer from 0 to {limits.MAX_REPORTED_TOKENS}.")
        counts[name] = value
    return counts


def _invalid(message: str) -> Refusal:
    return Refusal(reasons.CHAT_SUBMIT_INVALID, message)


def _nonconformant(message: str) -> Refusal:
    return Refusal(reasons.CHAT_SUBMIT_NONCONFORMANT, message)


@dataclass(frozen=True, slots=True)
class Verified:
    """A reply that may be stored. `format_check` is what its content still has to be measured against."""

    reply: ChatReply
    dropped_calls: int
    format_check: "FormatCheck | None"


@dataclass(frozen=True, slots=True)
class FormatCheck:
    """`schema` None: the content has to be a JSON object; else it has to match the schema."""

    content: str
    schema: object | None


def verify(reply: ChatReply, extras: Mapping[str, object], *, strict: bool) -> Verified:
    """Judge a reply by the client's stored `chat_extras`. Raises Refusal(ChatSubmitInvalid or ChatSubmitNonconformant).

    The content's format is left to the caller, since a schema is checked elsewhere, under limits (decision 25).
    """
    kept = reply
    if strict and extras.get("parallel_tool_calls") is False and len(reply.tool_calls) > 1:
        kept = replace(reply, tool_calls=reply.tool_calls[:1])
    names = _function_names(extras.get("tools"))
    _check_calls(kept.tool_calls, names)
    choice = extras.get("tool_choice")
    forced = _forced_function(choice)
    if strict:
        _check_choice(kept.tool_calls, choice, forced)
    if forced is not None and kept.tool_calls and kept.finish_reason == "tool_calls":
        # OpenAI finishes a forced function with stop; the worker was told `required` and could not know
        kept = replace(kept, finish_reason="stop")
    return Verified(kept, len(reply.tool_calls) - len(kept.tool_calls), _format_check(kept, extras) if strict else None)


def _function_names(tools: object) -> frozenset[str]:
    if not isinstance(tools, list):
        return frozenset()
    return frozenset(tool["function"]["name"] for tool in tools)


def _forced_function(choice: object) -> str | None:
    if not isinstance(choice, dict):
        return None
    name = choice["function"]["name"]
    return name if isinstance(name, str) else None


def _check_calls(calls: Sequence[ToolCall], names: frozenset[str]) -> None:
    seen: set[str] = set()
    for index, call in enumerate(calls):
        if call.name not in names:
            raise _invalid(
                f"'message.tool_calls[{index}]' calls the function '{call.name[:64]}', which the request does not"
                " define."
            )
        if call.id in seen:
            raise _invalid(f"'message.tool_calls[{index}]' repeats the id '{call.id[:64]}'.")
        seen.add(call.id)


def _check_choice(calls: Sequence[ToolCall], choice: object, forced: str | None) -> None:
    if choice == "none" and calls:
        raise _nonconformant("The reply calls a function although the request's tool_choice is 'none'.")
    if choice == "required" and not calls:
        raise _nonconformant("The reply calls no function although the request's tool_choice is 'required'.")
    if forced is not None and (not calls or any(call.name != forced for call in calls)):
        raise _nonconformant(f"The reply has to call the function '{forced}', which the request's tool_choice names.")


def _format_check(reply: ChatReply, extras: Mapping[str, object]) -> FormatCheck | None:
    wanted = extras.get("response_format")
    if not isinstance(wanted, dict) or wanted.get("type") not in {"json_object", "json_schema"}:
        return None
    if reply.tool_calls and not reply.content:
        return None
    described = wanted.get("json_schema")
    if wanted["type"] == "json_schema" and isinstance(described, dict) and described.get("strict") is True:
        return FormatCheck(reply.content or "", described.get("schema"))
    return FormatCheck(reply.content or "", None)


def parse_gen_metadata(sent: object) -> list[dict[str, object]] | None:
    """The `gen_metadata` of a submit. Raises Refusal(ValidationFailed). base-domain 5.1."""
    if sent is None:
        return None
    if not isinstance(sent, list) or len(sent) > limits.MAX_GEN_METADATA:
        raise _bad_metadata("gen_metadata", f"has to be an array of at most {limits.MAX_GEN_METADATA} objects")
    return [_metadata_entry(entry, f"gen_metadata[{index}]") for index, entry in enumerate(sent)]


def _metadata_entry(sent: object, path: str) -> dict[str, object]:
    if not isinstance(sent, dict):
        raise _bad_metadata(path, "has to be an object")
    entry: dict[str, object] = {}
    for key, only in _CSAM.items():
        if sent.get(key) != only:
            raise _bad_metadata(f"{path}.{key}", f"has to be '{only}'")
        entry[key] = only
    ref = sent.get("ref")
    if ref is not None:
        if not isinstance(ref, str) or len(ref) > limits.MAX_METADATA_REF_LENGTH:
            raise _bad_metadata(f"{path}.ref", f"has to be a string of at most {limits.MAX_METADATA_REF_LENGTH}")
        entry["ref"] = without_nul(ref)
    return entry


def _bad_metadata(path: str, wanted: str) -> Refusal:
    return Refusal(reasons.VALIDATION_FAILED, "Input payload validation failed", {"errors": {path: wanted}})


def censorship(state: State, metadata: list[dict[str, object]] | None) -> tuple[bool, list[dict[str, object]] | None]:
    """Whether the reply counts as censored, and the metadata to store with it. base-domain 5.3."""
    listed = any(entry.get("value") == "csam" for entry in metadata or ())
    if state == "csam" and not listed:
        return True, [*(metadata or ()), dict(_CSAM)]
    return state != "ok" or listed, metadata


def fault_label(sent: str) -> str:
    """How a worker's fault reason is counted: the word itself, `unknown` or `none`; never the worker's text."""
    if not sent:
        return "none"
    return sent if sent in FAULT_MESSAGES else "unknown"


def stored_reason(message: str) -> str:
    """A refusal's message as the request keeps it."""
    return without_nul(message)[: limits.MAX_CHAT_FAULT_REASON_LENGTH]
