"""A real Prometheus beside the six services: every panel and every rule has its answer."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from horde.cli.stack.environment import SERVICES
from tests.contract.promql import filled
from tests.servers import Servers
from tests.system.prometheus import Prometheus
from tests.system.services import Services
from tests.system.traffic import NOBODY, Traffic, prepare
from tools.observe.boards import BOARDS

LINES = [
    (f"{board.name}: {panel.title}", line.expr) for board in BOARDS for panel in board.panels() for line in panel.lines
]

ONLY_IN_TROUBLE = {
    'status=~"5.."': "no call fails here",
    "horde_rpc_faults_total": "a bug, and none is met here",
    "horde_gateway_faults_total": "a bug, and none is met here",
    "horde_gateway_outages_total": "no service is away here",
    'outcome=~"unavailable|error"': "Postgres is there, and no statement is wrong",
    "horde_moderation_evidence_write_failures_total": "Postgres is there",
    "horde_moderation_countermeasure_failures_total": "Redis is there",
    "horde_moderation_countermeasures_total": "nobody sends dozens of bad prompts in an hour here",
    "horde_moderation_problem_job_alerts_total": "it takes fifty reports of one account in an hour",
    "horde_rpc_client_retries_total": "no call between services has to be tried twice here",
    "horde_dispatch_vpn_checks_total": "no VPN checker is set here, which asks an outside service",
}
"""Parts of expressions that have nothing to say while all is well, and why."""


@pytest.fixture(scope="module")
def watched(
    new_services: Callable[..., Services],
    servers: Servers,
    system_tool: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Prometheus]:
    """A Prometheus that has seen two rounds of all traffic, and the moments after."""
    program = system_tool("prometheus")
    s3 = servers.object_store()
    services = new_services(
        "media",
        HORDE_CLEANUP_INTERVAL_SECONDS="1",
        HORDE_WEBHOOK_ALLOWED_HOSTS=NOBODY,
        HORDE_CHAT_MESSAGES_OFFLOAD_ENABLED="true",
        HORDE_MODERATION_RETENTION_INTERVAL_SECONDS="1",
        HORDE_MODERATION_UPLOAD_INTERVAL_SECONDS="1",
        R2_EVIDENCE_ACCOUNT=s3.endpoint,
        R2_EVIDENCE_BUCKET=s3.bucket("evidence"),
        EVIDENCE_AWS_ACCESS_KEY_ID=s3.access_key,
        EVIDENCE_AWS_SECRET_ACCESS_KEY=s3.secret_key,
    )
    prepare(services)
    services.start(*(name for name in SERVICES if name != "media"))
    targets = {name: services.metrics_target(name) for name in SERVICES}
    folder = tmp_path_factory.mktemp("prometheus")
    with Prometheus(program, folder, targets) as prometheus, Traffic(services) as traffic:
        time.sleep(2)
        for _ in range(2):
            traffic.run()
            time.sleep(3)
        yield prometheus


def test_every_service_is_scraped(watched: Prometheus) -> None:
    assert watched.ask("sum(up)") == [len(SERVICES)]


def test_every_panel_answers_with_data(watched: Prometheus) -> None:
    silent = [(where, expr) for where, expr in LINES if not watched.ask(filled(expr))]
    unexplained = [one for one in silent if not any(part in one[1] for part in ONLY_IN_TROUBLE)]
    assert unexplained == [], "\n".join(f"{where}: {expr}" for where, expr in unexplained)


def test_every_rule_is_evaluated_without_an_error(watched: Prometheus) -> None:
    rules = watched.rules()
    assert len(rules) > len(BOARDS)
    assert [(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"] == []
    for rule in rules:
        watched.ask(rule["query"])


def test_every_kind_of_call_has_its_share_and_its_time_recorded(watched: Prometheus) -> None:
    for window in ("5m", "30m", "1h", "2h", "6h", "1d", "3d"):
        shares = watched.ask(f"horde:call_errors:ratio_rate{window}")
        assert len(shares) == 6
        assert max(shares) == 0
    assert len(watched.ask("horde:call_seconds:p99_rate5m")) == 5


def test_no_instrument_makes_many_series(watched: Prometheus) -> None:
    """Buckets included: none has a label that grows with users, workers or requests."""
    most = watched.ask('max(count by (__name__, job) ({__name__=~"horde_.+"}))')
    assert 0 < most[0] < 1500
    assert watched.ask('count(count by (job) ({__name__=~"horde_.+"}))') == [len(SERVICES)]


def test_a_system_that_is_well_wakes_nobody(watched: Prometheus) -> None:
    pages = [rule for rule in watched.rules() if rule.get("labels", {}).get("severity") == "page"]
    assert pages
    assert [rule["name"] for rule in pages if rule["state"] == "firing"] == []


def test_each_silence_that_is_expected_has_a_panel(watched: Prometheus) -> None:
    del watched
    assert [part for part in ONLY_IN_TROUBLE if not any(part in expr for _, expr in LINES)] == []
