"""What a client is told of its request. Sources: chat reference, Impossible reason; base-domain 3.8, 3.9."""

import bisect
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from horde.contract import pricing
from services.dispatch.rules.completion import Tally

type GenerationState = Literal["pending", "finished", "faulted"]

EXACT_BOUND = 200
"""Requests ahead that are counted one by one for each status."""

QUEUE_BOUND = 10_000
"""Requests ahead that count at all; a position beyond it is shown as the first one after it."""

HEAD_STEP = 50
"""Between them, a position is one of this many, by what the head of the queue looked like a moment ago."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A stored reply. Counts and reasons are None where the worker did not send them; JSON columns are decoded."""

    id: str
    worker_id: str
    worker_name: str
    model: str
    state: str
    text: str
    seed: int
    gen_metadata: Sequence[Mapping[str, object]] | None
    message: Mapping[str, object] | None
    finish_reason: str | None
    native_finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    charge_basis: str | None
    queue_wait_seconds: float
    kudos: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A request as it is stored.

    `remaining`: seconds its slowest running generation should still take; `ahead`: None when it does not wait.
    """

    tally: Tally
    active: bool
    expired: bool
    created: datetime
    consumed_kudos: int
    # JSON text as stored
    context_adjustments: str | None
    fault_reason: str | None
    fault_rc: str | None
    streamed: bool
    remaining: float
    ahead: int | None
    rank: float
    generations: Sequence[Finished]


@dataclass(frozen=True, slots=True)
class Availability:
    """The online workers that could take a request.

    `gap`: every serving one lacks a declaration or a limit, and nothing else.
    """

    workers: int = 0
    threads: int = 0
    tokens_per_second: float = 0.0
    worker_ids: tuple[UUID, ...] = ()
    gap: bool = False
    missing: tuple[str, ...] = ()
    exceeded: tuple[str, ...] = ()


NOBODY = Availability()


@dataclass(frozen=True, slots=True)
class Load:
    """What waits for the same workers: tokens and generations."""

    tokens: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class RequestStatus:
    """The whole answer."""

    standing: Standing
    availability: Availability
    wait_time_seconds: int
    queue_position: int
    is_possible: bool
    impossible_reason: Mapping[str, object] | None


def status(standing: Standing, availability: Availability, load: Load) -> RequestStatus:
    """Puts together what was read. The load counts only while the request waits."""
    tally = standing.tally
    possible = availability.workers > 0 or tally.processing > 0
    return RequestStatus(
        standing=standing,
        availability=availability,
        wait_time_seconds=round(_queue_wait(standing, availability, load) + max(standing.remaining, 0.0)),
        queue_position=0 if standing.ahead is None else standing.ahead + 1,
        is_possible=possible,
        impossible_reason=None if possible or tally.is_done else _gap(availability),
    )


def far_ahead(rank: float, head: Sequence[float]) -> int:
    """Requests before one of this rank. `head`: the ranks of every HEAD_STEPth of the first ones, falling."""
    passed = bisect.bisect_left(head, -rank, key=operator.neg)
    return max(EXACT_BOUND, passed * HEAD_STEP)


def _queue_wait(standing: Standing, availability: Availability, load: Load) -> float:
    if standing.ahead is None or availability.threads == 0 or availability.tokens_per_second <= 0:
        return 0.0
    return pricing.queue_wait_seconds(
        tokens=load.tokens,
        jobs=load.jobs,
        tokens_per_second=availability.tokens_per_second,
        threads=availability.threads,
    )


def _gap(availability: Availability) -> Mapping[str, object] | None:
    if not availability.gap:
        return None
    return {
        "kind": "declaration_gap",
        "missing_declarations": list(availability.missing),
        "exceeded_limits": list(availability.exceeded),
    }


def shown_state(*, censored: bool, gen_metadata: Sequence[Mapping[str, object]] | None) -> str:
    """`ok`, `censored` or `csam`. base-domain 3.8."""
    if not censored:
        return "ok"
    return "csam" if any(entry.get("value") == "csam" for entry in gen_metadata or ()) else "censored"
