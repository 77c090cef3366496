"""The public kudos terms, as pure functions: quoted by admission, charged by dispatch.

Sources: base-domain section 6 and the chat reference's Pricing. Money is integer hundredths of a kudo; each function
rounds once, half up, on the decimal value of its formula (decision 6).
"""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

BURN = 100
"""What every settled generation costs besides its reward: one kudo. base-domain 6.4."""

ACTIVATION_TAX = 100
IMAGE_TAX = 500
"""Taken at activation, and per image. base-domain 3.7; chat reference, Images."""

_MIN_TOKENS = 20
_CHARACTERS_PER_TOKEN = 4
_UNVALIDATED = 0.3
_MATCHED_TARGETING = 10


def hundredths(kudos: float) -> int:
    """Kudos as integer hundredths, rounded half up on the decimal value."""
    return int((Decimal(repr(kudos)) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def whole(amount: int) -> int:
    """Hundredths as whole kudos, as the API shows them, rounded half up."""
    return int((Decimal(amount) / 100).quantize(Decimal(1), ROUND_HALF_UP))


def counted_tokens(characters: int, max_length: int) -> int:
    """Tokens a text counts as: a quarter of its characters, at least 20, at most the request's `max_length`."""
    return min(max_length, max(_MIN_TOKENS, math.ceil(characters / _CHARACTERS_PER_TOKEN)))


def context_factor(tokens: int) -> float:
    """How much a prompt of so many tokens weighs: 1.2 + 2.2^log2(tokens/1024), from 0.1 to 30."""
    return min(max(1.2 + math.pow(2.2, math.log2(tokens / 1024)), 0.1), 30.0)


def _size_bonus(multiplier: float) -> float:
    return math.pow(max(multiplier, 13) / 13, 0.20)


def reward(
    *,
    reply_characters: int,
    prompt_characters: int,
    max_length: int,
    multiplier: float | None,
    validated_backend: bool,
    owner_trusted: bool,
    matched_targeting: bool = False,
) -> int:
    """What one generation earns, in hundredths.

    `multiplier` is the served model's billions of parameters, None when the model is unknown.
    """
    if matched_targeting:
        return _MATCHED_TARGETING
    factor = context_factor(counted_tokens(prompt_characters, max_length))
    tokens = counted_tokens(reply_characters, max_length)
    if multiplier is None:
        return hundredths(tokens * factor * 0.027 if owner_trusted else factor)
    validated = 1.0 if validated_backend else _UNVALIDATED
    return hundredths(tokens * _size_bonus(multiplier) * multiplier / 125 * validated * factor)


def quote(
    *,
    max_length: int,
    max_context_length: int,
    generations: int,
    multiplier: float | None,
    models: int,
    images: int = 0,
) -> int:
    """What a request is estimated to cost, in hundredths: `(q + 1) * n + 1 + 5 * images` (decision 8).

    `multiplier` is the first listed model's, None when it is unknown; `models` how many were listed.
    """
    factor = context_factor(max_context_length)
    taxes = ACTIVATION_TAX + IMAGE_TAX * images
    if models and multiplier is None:
        # an unknown model's generation is not rounded before it is counted (base-domain 6.3)
        return hundredths((max_length * 0.027 * factor + BURN / 100) * generations) + taxes
    if not models or multiplier is None:
        each = max_length * 13 * factor / 100
    else:
        each = max_length * _size_bonus(multiplier) * multiplier * factor / 100
    return (hundredths(each) + BURN) * generations + taxes


def upfront(*, max_length: int, generations: int, multipliers: Sequence[float]) -> int:
    """What a request has to hold upfront, in hundredths.

    `round(max_length * highest / 21, 2) * n` over the models' multipliers; without models `20 * n` kudos.
    """
    if not multipliers:
        return 2000 * generations
    return hundredths(max_length * max(multipliers) / 21) * generations


def free_output_allowance(
    wait_seconds: float | None, *, ceiling: int, floor: int, full_wait: float, floor_wait: float
) -> int:
    """Tokens a request may ask for without a hold, by the estimated wait in seconds (None: no worker is eligible).

    Chat reference, Free output allowance.
    """
    if wait_seconds is None or wait_seconds >= floor_wait:
        return floor
    if wait_seconds <= full_wait:
        return ceiling
    return round(ceiling - (ceiling - floor) * (wait_seconds - full_wait) / (floor_wait - full_wait))


def queue_wait_seconds(*, tokens: int, jobs: int, tokens_per_second: float, threads: int) -> float:
    """Seconds until so many queued tokens are served: the throughput counts only threads that have a job.

    `tokens_per_second` is the eligible workers' speed together, each counted once per thread.
    """
    if tokens <= 0 or jobs <= 0:
        return 0.0
    return tokens / (tokens_per_second * min(jobs, threads) / threads)
