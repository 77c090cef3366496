"""What an expression speaks of: the metrics and labels it names, read by a parser of PromQL."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import promql_parser

from tools.instruments import Instrument, instruments

BY_PROMETHEUS = frozenset({"job", "instance", "le"})
"""Labels that scraping and histograms add."""

OWN_SERIES = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate"}}
"""What Prometheus itself knows, and the labels of it that we use."""

VARIABLES = {"$__rate_interval": "1m", "$instance": ".*"}
"""What Grafana puts in, as a test does."""


def filled(expression: str) -> str:
    """The expression with every variable of the dashboards put in."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


@functools.cache
def exported() -> Mapping[str, Instrument]:
    """Every name that `/metrics` can show, with its instrument."""
    shown: dict[str, Instrument] = {}
    for one in instruments():
        suffixes = ("_bucket", "_sum", "_count") if one.kind == "histogram" else ("",)
        shown |= {one.name + suffix: one for suffix in suffixes}
    return shown


def labels_of(name: str) -> set[str] | None:
    """The labels that a series of this name may have; None when nobody exports it."""
    if name.startswith("horde:call_"):
        return {"call"}
    if name in OWN_SERIES:
        return OWN_SERIES[name]
    return {*exported()[name].labels, *BY_PROMETHEUS} if name in exported() else None


def wrong_in(expression: str) -> list[str]:
    """What it names that is not there: metrics, and labels that no series of theirs has. Raises ValueError.

    That it is PromQL at all is proved by reading it.
    """
    found: list[str] = []
    _labels(promql_parser.parse(filled(expression)), found)
    return found


def _labels(node: Any, wrong: list[str]) -> set[str]:
    """The labels that the node's series may have; notes what does not fit."""
    if isinstance(node, promql_parser.VectorSelector):
        name = node.name or ""
        known = labels_of(name)
        if known is None:
            wrong.append(name)
            return set()
        wrong += [f"{name}{{{one.name}}}" for one in node.matchers.matchers if one.name not in known]
        return known
    below = set[str]().union(*(_labels(child, wrong) for child in _children(node)))
    modifier = getattr(node, "modifier", None)
    matching = getattr(modifier, "matching", None)
    named = getattr(matching or modifier, "labels", None) or []
    wrong += [f"by or on ({name})" for name in named if name not in below]
    return below


def _children(node: Any) -> Iterator[Any]:
    for name in ("expr", "lhs", "rhs", "vector_selector", "param"):
        if (child := getattr(node, name, None)) is not None:
            yield child
    yield from getattr(node, "args", ())
