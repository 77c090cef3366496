"""What a dashboard consists of, as its module writes it down; grafana.py makes JSON of it."""

from collections.abc import Sequence
from dataclasses import dataclass

SECONDS, PER_SECOND, BYTES_PER_SECOND, SHARE, COUNT = "s", "ops", "Bps", "percentunit", "short"
"""Grafana's names of units."""


@dataclass(frozen=True, slots=True)
class Line:
    """One expression and what its lines are called: a text, or labels in double braces."""

    expr: str
    legend: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Lines over time. `told` says how to read them; `runbook` names the alert that they explain; width of 24."""

    title: str
    lines: Sequence[Line]
    told: str
    unit: str = PER_SECOND
    runbook: str = ""
    stacked: bool = False
    width: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number now for each line; red from `bad_from` on, or below `bad_below`."""

    title: str
    lines: Sequence[Line]
    told: str
    unit: str = COUNT
    runbook: str = ""
    bad_from: float | None = None
    bad_below: float | None = None
    width: int = 6


type Panel = Graph | Figure


@dataclass(frozen=True, slots=True)
class Row:
    """A heading and what stands under it."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A dashboard. `question` is what it answers, from the top down."""

    name: str
    title: str
    question: str
    rows: Sequence[Row]

    def panels(self) -> list[Panel]:
        """All of them, in their order."""
        return [panel for row in self.rows for panel in row.panels]
