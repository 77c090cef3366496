"""Buckets and pre-bound instruments: a measurement on a hot path is one dictionary look-up.

Metrics are plain prometheus_client objects in its default registry, named
`horde_<service>_<noun>_<unit|total>`. Labels are small closed sets; an id never becomes a label.
"""

import functools
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds for RPCs, queries and scripts: from a script on loopback to the longest deadline."""

LONG_SECONDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0)
"""Upper bounds for waits of people and workers: up to the life of a request."""


class Timings:
    """A histogram whose last label is the outcome, with every other label already bound."""

    __slots__ = ("_bound", "_histogram", "_labels")

    def __init__(self, histogram: Histogram, *labels: str) -> None:
        self._histogram = histogram
        self._labels = labels
        self._bound: dict[str, Histogram] = {}

    def observe(self, outcome: str, seconds: float) -> None:
        """Counts one event that took `seconds` and ended as `outcome`."""
        child = self._bound.get(outcome)
        if child is None:
            child = self._bound[outcome] = self._histogram.labels(*self._labels, outcome)
        child.observe(seconds)


class Few:
    """A label's values where strangers choose them: the first `most` keep their names, all others are `other`."""

    __slots__ = ("_known", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, value: str) -> str:
        """The value itself, or `other`."""
        if value not in self._known:
            if len(self._known) >= self._most:
                return "other"
            self._known.add(value)
        return value


def timed[**P, R](
    histogram: Histogram,
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """A decorator for one step of a story: each call's seconds go to `histogram`, whose labels are bound."""

    def around(step: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(step)
        async def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            started = perf_counter()
            try:
                return await step(*args, **kwargs)
            finally:
                histogram.observe(perf_counter() - started)

        return watched

    return around


__all__ = ["LONG_SECONDS", "SECONDS", "Counter", "Few", "Gauge", "Histogram", "Timings", "timed"]
