"""The dashboards against the code: they are what their source makes, and speak of what is exported."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.contract.promql import wrong_in
from tools.instruments import instruments
from tools.observe.__main__ import DASHBOARDS, OBSERVE, files
from tools.observe.boards import BOARDS
from tools.observe.forms import Board, Line

LINES = [
    pytest.param(line, id=f"{board.name}: {panel.title}: {line.legend}")
    for board in BOARDS
    for panel in board.panels()
    for line in panel.lines
]
ALERTS = {
    rule["alert"] for group in yaml.safe_load((OBSERVE / "rules.yaml").read_text())["groups"] for rule in group["rules"]
}


@pytest.mark.parametrize("line", LINES)
def test_each_expression_is_promql_and_names_metrics_and_labels_that_the_code_exports(line: Line) -> None:
    assert wrong_in(line.expr) == []
    # and a line is called by labels that it has
    named = set(re.findall(r"\{\{(\w+)\}\}", line.legend))
    joined = re.findall(r"by \(([^)]*)\)", line.expr)
    kept = {label for group in joined for label in group.split(", ")}
    assert named <= kept or "horde:call_" in line.expr


def test_a_wrong_expression_is_found() -> None:
    assert wrong_in("sum(rate(horde_no_such_total[5m]))") == ["horde_no_such_total"]
    assert wrong_in('sum by (colour) (rate(horde_pop_skipped_total{gentype="text",size="1"}[5m]))') == [
        "horde_pop_skipped_total{size}",
        "by or on (colour)",
    ]
    with pytest.raises(ValueError, match="parenthesis"):
        wrong_in("sum(rate(horde_pop_skipped_total[5m])")


def test_the_committed_files_are_what_their_source_makes() -> None:
    made = dict(files())
    assert {path for path in made if path.read_text() != made[path]} == set()
    assert set(DASHBOARDS.glob("*.json")) == {path for path in made if path.suffix == ".json"}


def _places(grid: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Every square of the grid that a panel covers."""
    columns, rows = (range(grid[at], grid[at] + grid[size]) for at, size in (("x", "w"), ("y", "h")))
    yield from itertools.product(columns, rows)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_dashboard_asks_one_question_and_each_panel_says_how_to_read_it(board: Board) -> None:
    shown = json.loads((DASHBOARDS / f"{board.name}.json").read_text())
    assert shown["description"].endswith(("?", "."))
    assert {variable["name"] for variable in shown["templating"]["list"]} == {"datasource", "instance", "runbooks"}
    panels: list[dict[str, Any]] = [panel for panel in shown["panels"] if panel["type"] != "row"]
    assert len(panels) == len(board.panels())
    for panel in panels:
        assert panel["description"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["targets"]
        assert panel["datasource"]["uid"] == "${datasource}"
    taken = [(column, row) for panel in shown["panels"] for column, row in _places(panel["gridPos"])]
    assert len(taken) == len(set(taken)), "no panel lies over another"
    assert max(column for column, _ in taken) < 24


def test_every_alert_has_a_panel_that_leads_to_its_runbook() -> None:
    explained = {panel.runbook for board in BOARDS for panel in board.panels()} - {""}
    assert explained <= ALERTS
    assert ALERTS - explained <= {"CallsFailForDays"}, "the burn's panel names CallsFailSlowly for both"


def test_every_instrument_is_on_a_dashboard_or_in_a_rule() -> None:
    shown = " ".join(line.expr for board in BOARDS for panel in board.panels() for line in panel.lines)
    shown += (OBSERVE / "rules.yaml").read_text() + (OBSERVE / "calls.yaml").read_text()
    assert {one.name for one in instruments() if one.name not in shown} == set()
