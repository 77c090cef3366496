"""How much context a request gets, and which turns go when that is not enough. Chat reference, Context adjustments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from horde.contract import limits, reasons
from horde.contract.chat.flattening import estimate_tokens, flatten, truncate_oldest
from horde.contract.chat.images import count_images
from horde.contract.chat.request import ChatRequest, Message
from horde.contract.refusal import Refusal


class Lengths(Protocol):
    """The two lengths of a sized request, in tokens."""

    @property
    def max_length(self) -> int: ...
    @property
    def max_context_length(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A request as it will be queued: `mode` is what its text sizing ran under, `outcome` what happened."""

    messages: Sequence[Message]
    prompt: str
    max_length: int
    max_context_length: int
    estimate: int
    adjustments: Sequence[Mapping[str, Any]]
    mode: str
    outcome: str


class DoesNotFit(Refusal):
    """A refusal that also says under which mode it was made."""

    def __init__(self, message: str, mode: str) -> None:
        super().__init__(reasons.PROMPT_EXCEEDS_CONTEXT, message)
        self.mode = mode


def size(request: ChatRequest, messages: Sequence[Message], max_length: int, widest: int | None) -> Sized:
    """Fits the messages into a context. `widest` is the largest one that a serving worker declares.

    Raises PromptExceedsContext.
    """
    prompt = flatten(messages, request.tools)
    estimate = estimate_tokens(len(prompt), count_images(messages))
    asked = request.requested_context
    needed = estimate + max_length
    mode = request.horde.context_fit
    whole = Sized(
        messages=messages,
        prompt=prompt,
        max_length=max_length,
        max_context_length=asked,
        estimate=estimate,
        adjustments=(),
        mode="reject" if mode == "reject" else "grow",
        outcome="fits",
    )
    if needed <= asked:
        return whole
    if mode == "reject":
        raise DoesNotFit(
            f"The prompt is estimated at {estimate} tokens; with {max_length} tokens to generate it does not fit "
            f"the context of {asked} tokens.",
            mode,
        )
    bound = min(limits.MAX_CONTEXT_LENGTH, asked if widest is None else widest)
    if needed <= bound:
        return _grown(whole, min(power_of_two(needed), bound), "grown")
    largest = max(bound, asked)
    shorter = _truncated(request, whole, largest) if mode == "truncate_oldest" else None
    if shorter is None:
        raise DoesNotFit(
            f"The prompt is estimated at {estimate} tokens; with {max_length} tokens to generate it needs a context of "
            f"{needed} tokens, and the largest that can be had is {largest}.",
            mode,
        )
    return shorter


def _grown(sized: Sized, context: int, outcome: str) -> Sized:
    """The same under another context; nothing is recorded when it is the one it had."""
    asked = sized.max_context_length
    grow = [{"from": asked, "to": context, "reason": "grow"}] if context != asked else []
    return replace(sized, max_context_length=context, adjustments=[*sized.adjustments, *grow], outcome=outcome)


def _truncated(request: ChatRequest, whole: Sized, context: int) -> Sized | None:
    """Without the oldest turns, so that the rest fits `context`; None when it never does."""
    shorter = truncate_oldest(whole.messages, request.tools, context - whole.max_length)
    if shorter is None:
        return None
    grown = _grown(whole, context, "truncated")
    trimmed = {
        "from": shorter.before,
        "to": shorter.after,
        "reason": "truncate_oldest",
        "dropped_messages": shorter.dropped(whole.messages),
    }
    return replace(
        grown,
        messages=shorter.kept,
        prompt=flatten(shorter.kept, request.tools),
        estimate=shorter.after,
        adjustments=[*grown.adjustments, trimmed],
    )


def power_of_two(least: int) -> int:
    """The smallest power of two that is no smaller."""
    return 1 << (least - 1).bit_length()


def refuse_bad_params(sized: Lengths, stops: Sequence[str]) -> None:
    """The rules of text params that look at more than one value. base-domain 3.2."""
    if sized.max_context_length < sized.max_length:
        raise Refusal(
            reasons.TOKEN_OVERFLOW,
            f"The context of {sized.max_context_length} tokens cannot hold the {sized.max_length} tokens to generate.",
        )
    distinct = set(stops)
    if len(distinct) > limits.MAX_STOP_SEQUENCES:
        raise Refusal(
            reasons.TOO_MANY_STOP_SEQUENCES,
            f"At most {limits.MAX_STOP_SEQUENCES} different stop sequences are allowed.",
        )
    if sum(map(len, distinct)) > limits.MAX_STOP_CHARACTERS:
        raise Refusal(
            reasons.EXCESSIVE_STOP_SEQUENCE,
            f"The stop sequences may have {limits.MAX_STOP_CHARACTERS} characters together at most.",
        )
