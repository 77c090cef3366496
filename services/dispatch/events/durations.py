"""How long pops and submits take, and their steps: base-domain 12's histograms, each bound to what is text or chat.

`horde.pop.duration` is `horde_pop_duration_seconds` here, and so on. Each name below decorates the one function that is
that step; steps that are one SQL statement here have one histogram, its commit's.
"""

import functools
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

from horde.telemetry.metrics import SECONDS, Histogram, Timings, timed

_GENTYPE = "text"
"""What chat and text jobs alike are called beside image jobs of other hordes. base-domain 12."""

_POP = Histogram("horde_pop_duration_seconds", "One look of a pop for a job.", ("gentype",), buckets=SECONDS)
_PRE_EVAL = Histogram(
    "horde_pop_pre_eval_duration_seconds",
    "A pop's steps before the queue is looked through.",
    ("gentype",),
    buckets=SECONDS,
)
_VALIDATE = Histogram(
    "horde_pop_validate_duration_seconds",
    "Reading who pops, and in the same statement what waits for it.",
    ("gentype",),
    buckets=SECONDS,
)
_CHECK_IN = Histogram(
    "horde_pop_check_in_duration_seconds", "A worker's check-in, mostly unwritten.", ("gentype",), buckets=SECONDS
)
_EVAL_LOOP = Histogram(
    "horde_pop_eval_loop_duration_seconds",
    "Looking the queue through and claiming.",
    ("gentype", "outcome"),
    buckets=SECONDS,
)
_START = Histogram(
    "horde_pop_start_generation_duration_seconds",
    "From the claim to the worker's payload.",
    ("gentype",),
    buckets=SECONDS,
)
_SUBMIT = Histogram("horde_submit_duration_seconds", "One submit, reply or fault.", ("gentype",), buckets=SECONDS)
_GET_PROGEN = Histogram(
    "horde_submit_get_progen_duration_seconds",
    "Reading the generation, its request and who submits.",
    ("gentype",),
    buckets=SECONDS,
)
_STATE_HANDLING = Histogram(
    "horde_submit_state_handling_duration_seconds", "Judging the reply.", ("gentype",), buckets=SECONDS
)
_COMMIT = Histogram(
    "horde_submit_commit_duration_seconds",
    "The statement that claims the generation, stores, pays, records and completes.",
    ("gentype",),
    buckets=SECONDS,
)

_WEBHOOK_CALL = Histogram(
    "horde_submit_webhook_call_duration_seconds",
    "Writing what a webhook is told and putting the call in its queue.",
    buckets=SECONDS,
)

pop = timed(_POP.labels(_GENTYPE))
pre_eval = timed(_PRE_EVAL.labels(_GENTYPE))
validate = timed(_VALIDATE.labels(_GENTYPE))
check_in = timed(_CHECK_IN.labels(_GENTYPE))
start_generation = timed(_START.labels(_GENTYPE))
submit = timed(_SUBMIT.labels(_GENTYPE))
get_progen = timed(_GET_PROGEN.labels(_GENTYPE))
state_handling = timed(_STATE_HANDLING.labels(_GENTYPE))
commit = timed(_COMMIT.labels(_GENTYPE))
webhook_call = _WEBHOOK_CALL.time

_EVAL_TIMINGS = Timings(_EVAL_LOOP, _GENTYPE)


def eval_loop[**P, R](step: Callable[P, Coroutine[Any, Any, R | None]]) -> Callable[P, Coroutine[Any, Any, R | None]]:
    """Times the step by whether it found something."""

    @functools.wraps(step)
    async def watched(*args: P.args, **kwargs: P.kwargs) -> R | None:
        started = perf_counter()
        found = await step(*args, **kwargs)
        _EVAL_TIMINGS.observe("no_match" if found is None else "match", perf_counter() - started)
        return found

    return watched
