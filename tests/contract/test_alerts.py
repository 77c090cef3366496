"""The rules that record and wake against the code: they speak of metrics that exist, and lead to a page that helps."""

import functools
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.instruments import Instrument, instruments

ROOT = Path(__file__).resolve().parents[2]
OBSERVE = ROOT / "deploy" / "observe"
RUNBOOKS = ROOT / "docs" / "runbooks"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((OBSERVE / "rules.yaml").read_text())["groups"] for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]

_BY_PROMETHEUS = {"job", "instance", "le", "call"}
"""Labels that scraping, histograms and our own recording rules add."""


@functools.cache
def _exported() -> Mapping[str, Instrument]:
    """Every name that `/metrics` can show, with its instrument."""
    shown: dict[str, Instrument] = {}
    for one in instruments():
        suffixes = ("_bucket", "_sum", "_count") if one.kind == "histogram" else ("",)
        shown |= {one.name + suffix: one for suffix in suffixes}
    return shown


def test_the_rules_are_sound_and_say_what_their_tests_expect(system_tool: Callable[[str], Path]) -> None:
    promtool = system_tool("promtool")
    for command in (["check", "config", "prometheus.yaml"], ["test", "rules", "rules_test.yaml"]):
        done = subprocess.run([promtool, *command], cwd=OBSERVE, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "rule", RULES, ids=lambda rule: rule.get("alert") or f"{rule['record']}-{rule['labels']['call']}"
)
def test_each_rule_names_metrics_and_labels_that_the_code_exports(rule: dict[str, Any]) -> None:
    exported = _exported()
    recorded = {each["record"] for each in RULES if "record" in each}
    expression = rule["expr"]
    named = set(re.findall(r"\bhorde[a-z0-9_:]*", re.sub(r'"[^"]*"', "", expression)))
    assert named, expression
    assert named - recorded <= set(exported)
    labels = set(re.findall(r"([a-z_]+)(?:=~|!~|!=|=)\"", expression))
    labels |= {name for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression) for name in group.split(", ")}
    known = _BY_PROMETHEUS.union(*(exported[name].labels for name in named if name in exported))
    assert labels <= known


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    pages = {page.stem: page.read_text() for page in RUNBOOKS.glob("*.md")}
    assert set(pages) == {alert["alert"] for alert in ALERTS}
    for alert in ALERTS:
        assert alert["annotations"]["runbook"] == f"docs/runbooks/{alert['alert']}.md"
        page = pages[alert["alert"]]
        assert page.startswith(f"# {alert['alert']}\n")
        assert "## How to look" in page
        assert "## What to do" in page


def test_the_runbooks_name_only_metrics_that_exist() -> None:
    exported = {*_exported(), *(one.name for one in instruments())}
    for page in RUNBOOKS.glob("*.md"):
        for name in re.findall(r"`[^`]*?\b(horde_[a-z_]+)", page.read_text()):
            assert name in exported, page.name


def test_each_alert_is_a_page_or_a_ticket() -> None:
    assert {alert["labels"]["severity"] for alert in ALERTS} == {"page", "ticket"}
