"""Buckets and pre-bound instruments: a measurement on a hot path is one dictionary look-up.

Metrics are plain prometheus_client objects in its default registry, named
`horde_<service>_<noun>_<unit|total>`. Labels are small closed sets; an id never becomes a label.
"""

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


__all__ = ["LONG_SECONDS", "SECONDS", "Counter", "Gauge", "Histogram", "Timings"]
