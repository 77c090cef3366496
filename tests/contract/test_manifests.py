"""The Kubernetes manifests against the code they run: whatever a manifest names is there, and fits."""

import ast
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from horde.settings import env_names, is_secret
from tools.docs import settings_classes

ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = ROOT / "deploy" / "kubernetes" / "overlays"
KUBERNETES = "1.33"

type Manifest = dict[str, Any]


@pytest.fixture(scope="module", params=["local", "production"])
def rendered(request: pytest.FixtureRequest, system_tool: Callable[[str], Path]) -> list[Manifest]:
    """Everything one overlay makes."""
    made = subprocess.run(
        [system_tool("kubectl"), "kustomize", OVERLAYS / request.param], capture_output=True, text=True, check=True
    )
    return list(yaml.safe_load_all(made.stdout))


def _of(manifests: list[Manifest], *kinds: str) -> list[Manifest]:
    return [one for one in manifests if one["kind"] in kinds]


def _pod(workload: Manifest) -> Manifest:
    pod: Manifest = workload["spec"]["template"]
    return pod


def _container(workload: Manifest) -> Manifest:
    (container,) = _pod(workload)["spec"]["containers"]
    return dict(container)


def _pods(manifests: list[Manifest]) -> list[Mapping[str, str]]:
    """The labels of every pod that runs."""
    return [_pod(one)["metadata"]["labels"] for one in _of(manifests, "Deployment", "Job")]


def _matches(selector: Manifest, labels: Mapping[str, str]) -> bool:
    if not selector.get("matchLabels", {}).items() <= labels.items():
        return False
    among = [each for each in selector.get("matchExpressions", ()) if each["operator"] == "In"]
    return all(labels.get(each["key"]) in each["values"] for each in among)


def test_every_manifest_is_one_that_kubernetes_knows(rendered: list[Manifest]) -> None:
    known = [one for one in rendered if "cnpg.io" not in one["apiVersion"]]
    assert len(known) > 30
    for one in known:
        kubernetes_validate.validate(one, KUBERNETES, strict=True)


def test_every_selector_finds_a_pod(rendered: list[Manifest]) -> None:
    pods = _pods(rendered)
    for service in _of(rendered, "Service"):
        assert any(service["spec"]["selector"].items() <= labels.items() for labels in pods), service["metadata"][
            "name"
        ]
    for one in _of(rendered, "PodDisruptionBudget", "Deployment"):
        assert any(_matches(one["spec"]["selector"], labels) for labels in pods), one["metadata"]["name"]
    for policy in _of(rendered, "NetworkPolicy"):
        assert any(_matches(policy["spec"]["podSelector"], labels) for labels in pods), policy["metadata"]["name"]


def test_every_scaler_names_a_deployment(rendered: list[Manifest]) -> None:
    names = {one["metadata"]["name"] for one in _of(rendered, "Deployment")}
    for scaler in _of(rendered, "HorizontalPodAutoscaler"):
        assert scaler["spec"]["scaleTargetRef"]["name"] in names


def test_every_port_that_is_named_is_a_port_of_the_pod(rendered: list[Manifest]) -> None:
    ports = {
        one["metadata"]["name"]: {port["name"] for port in _container(one)["ports"]}
        for one in _of(rendered, "Deployment")
    }
    for service in _of(rendered, "Service"):
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports[service["metadata"]["name"]]
    for workload in _of(rendered, "Deployment"):
        container = _container(workload)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] in ports[workload["metadata"]["name"]]


def test_the_pods_listen_where_their_ports_are(rendered: list[Manifest]) -> None:
    (settings,) = _of(rendered, "ConfigMap")
    data = settings["data"]
    listens = {"grpc": "HORDE_GRPC_LISTEN", "metrics": "HORDE_METRICS_LISTEN", "http": "HORDE_GATEWAY_LISTEN"}
    for workload in _of(rendered, "Deployment"):
        for port in _container(workload)["ports"]:
            assert data[listens[port["name"]]] == f"0.0.0.0:{port['containerPort']}"
    services = {one["metadata"]["name"]: one["spec"]["ports"][0]["port"] for one in _of(rendered, "Service")}
    for name, target in data.items():
        if name.endswith("_TARGET"):
            host, _, port = target.removeprefix("dns:///").partition(":")
            assert services[host] == int(port), name


def _environment(workload: Manifest, settings: Manifest) -> tuple[set[str], set[str]]:
    """The variables a container gets from the ConfigMap, and those that are its own."""
    container = _container(workload)
    shared = set(settings["data"]) if container.get("envFrom") else set()
    return shared, {variable["name"] for variable in container.get("env", ())}


def test_each_service_gets_what_it_needs_and_no_secret_that_it_does_not_read(rendered: list[Manifest]) -> None:
    (settings,) = _of(rendered, "ConfigMap")
    workloads = {one["metadata"]["name"]: one for one in _of(rendered, "Deployment")}
    classes = {name: cls for name, cls in settings_classes() if name != "horde up"}
    assert set(workloads) == set(classes)
    for name, cls in classes.items():
        shared, own = _environment(workloads[name], settings)
        fields = {env_names(field)[0]: field for field in cls.model_fields.values()}
        required = {variable for variable, field in fields.items() if field.is_required()}
        assert required <= shared | own, f"{name} lacks {required - shared - own}"
        assert own <= set(fields), f"{name} does not read {own - set(fields)}"
        assert not {variable for variable, field in fields.items() if is_secret(field)} & shared, (
            "no secret in a ConfigMap"
        )


def test_every_reference_by_name_is_to_a_secret_of_the_documented_list(rendered: list[Manifest]) -> None:
    told = (ROOT / "deploy" / "kubernetes" / "README.md").read_text()
    for workload in _of(rendered, "Deployment", "Job"):
        for variable in _container(workload).get("env", ()):
            reference = variable["valueFrom"]["secretKeyRef"]
            assert f"| `{reference['name']}` | `{reference['key']}` |" in told


def test_every_pod_is_as_harmless_as_the_strictest_standard_asks(rendered: list[Manifest]) -> None:
    accounts = {one["metadata"]["name"] for one in _of(rendered, "ServiceAccount")}
    for workload in _of(rendered, "Deployment", "Job"):
        pod = _pod(workload)["spec"]
        container = _container(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["serviceAccountName"] in accounts
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= set(container["resources"])


def test_a_pod_has_longer_to_go_than_it_takes_to_drain(rendered: list[Manifest]) -> None:
    (settings,) = _of(rendered, "ConfigMap")
    for workload in _of(rendered, "Deployment"):
        (_, pause) = _container(workload)["lifecycle"]["preStop"]["exec"]["command"]
        given = _pod(workload)["spec"]["terminationGracePeriodSeconds"]
        assert given > int(pause) + int(settings["data"]["HORDE_DRAIN_SECONDS"])


def _called_in_code() -> set[tuple[str, str]]:
    """Who opens a channel to whom: every `settings.X_target` in a service's code."""
    found = set()
    for path in (ROOT / "services").rglob("*.py"):
        caller = path.relative_to(ROOT / "services").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(f"settings.{node.attr}"):
                found.add((caller, node.attr))
    return {(caller, name.removesuffix("_target")) for caller, name in found if name.endswith("_target")}


def _allowed(policies: list[Manifest], side: str, peer: str) -> Iterator[tuple[str, str]]:
    for policy in policies:
        mine = policy["spec"]["podSelector"].get("matchLabels", {}).get("app.kubernetes.io/name")
        for rule in policy["spec"].get(side, ()):
            for other in rule[peer]:
                name = other.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/name")
                if mine and name:
                    yield mine, name


def test_the_network_lets_through_the_calls_that_the_code_makes_and_no_other(rendered: list[Manifest]) -> None:
    policies = _of(rendered, "NetworkPolicy")
    called = _called_in_code()
    assert set(_allowed(policies, "egress", "to")) == called
    assert {(caller, callee) for callee, caller in _allowed(policies, "ingress", "from")} == called


def test_compose_gives_each_service_what_it_needs() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    known = {name for _, cls in settings_classes() for field in cls.model_fields.values() for name in env_names(field)}
    for name, cls in settings_classes():
        if name == "horde up":
            continue
        given = services[name]
        assert given["command"] == ["serve", name]
        assert set(given["environment"]) <= known
        for field in cls.model_fields.values():
            assert not field.is_required() or set(env_names(field)) & set(given["environment"]), (
                name,
                env_names(field),
            )
