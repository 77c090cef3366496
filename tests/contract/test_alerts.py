"""The rules that record and wake against the code: they speak of metrics that exist, and lead to a page that helps."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.promql import exported, wrong_in
from tools.instruments import instruments

ROOT = Path(__file__).resolve().parents[2]
OBSERVE = ROOT / "deploy" / "observe"
RUNBOOKS = ROOT / "docs" / "runbooks"
RULES: list[dict[str, Any]] = [
    rule
    for name in ("calls.yaml", "rules.yaml")
    for group in yaml.safe_load((OBSERVE / name).read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]

DRILLS = {"BackupRestore"}
"""What is done by plan, without an alert."""


@pytest.mark.parametrize(
    "command",
    ["check config prometheus.yaml", "test rules rules_test.yaml", "test rules rules_days_test.yaml"],
)
def test_the_rules_are_sound_and_say_what_their_tests_expect(system_tool: Callable[[str], Path], command: str) -> None:
    done = subprocess.run(
        [system_tool("promtool"), *command.split()], cwd=OBSERVE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "rule", RULES, ids=lambda rule: rule.get("alert") or f"{rule['record']}-{rule['labels']['call']}"
)
def test_each_rule_names_metrics_and_labels_that_the_code_exports(rule: dict[str, Any]) -> None:
    assert wrong_in(rule["expr"]) == []


def test_the_windows_that_alerts_compare_are_recorded_for_each_kind_of_call() -> None:
    recorded: dict[str, set[str]] = {}
    for rule in RULES:
        if "record" in rule:
            recorded.setdefault(rule["record"], set()).add(rule["labels"]["call"])
    compared = {name for alert in ALERTS for name in re.findall(r"horde:call_errors:[a-z0-9_]+", alert["expr"])}
    assert compared == {name for name in recorded if name.startswith("horde:call_errors:")}
    assert all(recorded[name] == {"submit", "pop", "reply", "progress", "stream", "status"} for name in compared)


def test_each_alert_speaks_in_a_test() -> None:
    cases = [
        case
        for name in ("rules_test.yaml", "rules_days_test.yaml")
        for test in yaml.safe_load((OBSERVE / name).read_text())["tests"]
        for case in test["alert_rule_test"]
    ]
    loud = {case["alertname"] for case in cases if case["exp_alerts"]}
    assert loud == {alert["alert"] for alert in ALERTS}


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    pages = {page.stem: page.read_text() for page in RUNBOOKS.glob("*.md")}
    assert set(pages) - DRILLS == {alert["alert"] for alert in ALERTS}
    for alert in ALERTS:
        assert alert["annotations"]["runbook"] == f"docs/runbooks/{alert['alert']}.md"
        page = pages[alert["alert"]]
        assert page.startswith(f"# {alert['alert']}\n")
        assert "## How to look" in page
        assert "## What to do" in page


def test_the_runbooks_name_only_metrics_that_exist() -> None:
    known = {*exported(), *(one.name for one in instruments())}
    for page in RUNBOOKS.glob("*.md"):
        for name in re.findall(r"`[^`]*?\b(horde_[a-z_]+)", page.read_text()):
            assert name in known, page.name


def test_the_expressions_of_the_runbooks_can_be_pasted() -> None:
    spans = [
        span
        for page in RUNBOOKS.glob("*.md")
        for span in re.findall(r"`([^`\n]*\bhorde_[a-z][^`\n]*)`", page.read_text())
        if re.search(r"[({]", span) and not span.startswith(("SELECT", "horde "))
    ]
    assert len(spans) > 8
    assert [(span, wrong_in(span)) for span in spans if wrong_in(span)] == []


def test_each_alert_is_a_page_or_a_ticket() -> None:
    assert {alert["labels"]["severity"] for alert in ALERTS} == {"page", "ticket"}


def test_a_prometheus_in_the_cluster_looks_for_labels_and_annotations_that_our_pods_have() -> None:
    (scrape,) = yaml.safe_load((OBSERVE / "prometheus-kubernetes.yaml").read_text())["scrape_configs"]
    sources = {source for rule in scrape["relabel_configs"] for source in rule["source_labels"]}
    named = {source.removeprefix("__meta_kubernetes_pod_") for source in sources} - {"ip", "name"}
    kinds = {"label": "app.kubernetes.io", "annotation": "prometheus.io"}
    manifests = " ".join(path.read_text() for path in (ROOT / "deploy" / "kubernetes" / "base").glob("*.yaml"))
    written = {
        f"{kind}_{re.sub(r'[^a-zA-Z0-9]', '_', key)}"
        for kind, prefix in kinds.items()
        for key in re.findall(rf"{re.escape(prefix)}/[a-z-]+", manifests)
    }
    assert named
    assert named <= written
    assert {rule["target_label"] for rule in scrape["relabel_configs"] if "target_label" in rule} == {
        "__address__",
        "job",
        "instance",
    }
