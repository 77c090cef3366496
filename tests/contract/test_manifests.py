"""The Kubernetes manifests against the code they run: whatever a manifest names is there, and fits."""

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from horde.settings import env_names, is_secret
from tests.manifests import ROOT, Manifest, container_of, containers_of, named, of_kind, pod_of, rendered, secrets_of
from tools.docs import settings_classes

WORKLOADS = ("Deployment", "Job", "StatefulSet")


@pytest.fixture(scope="module", params=["local", "production"])
def overlay(request: pytest.FixtureRequest, system_tool: Callable[[str], Path]) -> list[Manifest]:
    """Everything one overlay makes."""
    return rendered(request.param, system_tool("kubectl"))


@pytest.fixture(scope="module")
def production(system_tool: Callable[[str], Path]) -> list[Manifest]:
    """Everything the overlay for production makes."""
    return rendered("production", system_tool("kubectl"))


def _pods(manifests: list[Manifest]) -> list[Mapping[str, str]]:
    """The labels of every pod that runs; those of operators' pods as the operators document them."""
    ours = [pod_of(one)["metadata"]["labels"] for one in of_kind(manifests, *WORKLOADS)]
    return [*ours, *({"cnpg.io/cluster": one["metadata"]["name"]} for one in of_kind(manifests, "Cluster"))]


def _matches(selector: Manifest, labels: Mapping[str, str]) -> bool:
    if not selector.get("matchLabels", {}).items() <= labels.items():
        return False
    among = [each for each in selector.get("matchExpressions", ()) if each["operator"] == "In"]
    return all(labels.get(each["key"]) in each["values"] for each in among)


def test_every_selector_finds_a_pod(overlay: list[Manifest]) -> None:
    pods = _pods(overlay)
    for service in of_kind(overlay, "Service"):
        wanted = service["spec"]["selector"].items()
        assert any(wanted <= labels.items() for labels in pods), service["metadata"]["name"]
    for one in of_kind(overlay, "PodDisruptionBudget", "Deployment", "StatefulSet"):
        assert any(_matches(one["spec"]["selector"], labels) for labels in pods), one["metadata"]["name"]
    for workload in of_kind(overlay, "Deployment", "StatefulSet"):
        for spread in pod_of(workload)["spec"]["topologySpreadConstraints"]:
            assert _matches(spread["labelSelector"], pod_of(workload)["metadata"]["labels"])
    for policy in of_kind(overlay, "NetworkPolicy"):
        assert any(_matches(policy["spec"]["podSelector"], labels) for labels in pods), policy["metadata"]["name"]


def test_every_scaler_names_a_deployment(overlay: list[Manifest]) -> None:
    names = {one["metadata"]["name"] for one in of_kind(overlay, "Deployment")}
    for scaler in of_kind(overlay, "HorizontalPodAutoscaler"):
        assert scaler["spec"]["scaleTargetRef"]["name"] in names


def test_every_port_that_is_named_is_a_port_of_the_pod(overlay: list[Manifest]) -> None:
    ports = {
        one["metadata"]["name"]: {port["name"] for each in containers_of(one) for port in each["ports"]}
        for one in of_kind(overlay, "Deployment", "StatefulSet")
    }
    for service in of_kind(overlay, "Service"):
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports[service["metadata"]["name"]]
    for workload in of_kind(overlay, "Deployment"):
        container = container_of(workload)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] in ports[workload["metadata"]["name"]]


def _settings(overlay: list[Manifest]) -> Manifest:
    (settings,) = (one for one in of_kind(overlay, "ConfigMap") if one["metadata"]["name"].startswith("settings-"))
    return settings


def test_the_pods_listen_where_their_ports_are(overlay: list[Manifest]) -> None:
    settings = _settings(overlay)
    data = settings["data"]
    listens = {"grpc": "HORDE_GRPC_LISTEN", "metrics": "HORDE_METRICS_LISTEN", "http": "HORDE_GATEWAY_LISTEN"}
    for workload in of_kind(overlay, "Deployment"):
        for port in container_of(workload)["ports"]:
            assert data[listens[port["name"]]] == f"0.0.0.0:{port['containerPort']}"
    services = {one["metadata"]["name"]: one["spec"]["ports"][0]["port"] for one in of_kind(overlay, "Service")}
    for name, target in data.items():
        if name.endswith("_TARGET"):
            host, _, port = target.removeprefix("dns:///").partition(":")
            assert services[host] == int(port), name


def _environment(workload: Manifest, settings: Manifest) -> tuple[set[str], set[str]]:
    """The variables a container gets from the ConfigMap, and those that are its own."""
    container = container_of(workload)
    shared = set(settings["data"]) if container.get("envFrom") else set()
    return shared, {variable["name"] for variable in container.get("env", ())}


def test_each_service_gets_what_it_needs_and_no_secret_that_it_does_not_read(overlay: list[Manifest]) -> None:
    settings = _settings(overlay)
    workloads = {one["metadata"]["name"]: one for one in of_kind(overlay, "Deployment")}
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


def test_every_reference_by_name_is_to_a_secret_of_the_documented_list(overlay: list[Manifest]) -> None:
    told = (ROOT / "deploy" / "kubernetes" / "README.md").read_text()
    for workload in of_kind(overlay, *WORKLOADS):
        for container in containers_of(workload):
            for name, key in secrets_of(container):
                assert f"| `{name}` | `{key}` |" in told


def test_every_volume_is_mounted_and_every_mount_is_of_something_that_is_made(overlay: list[Manifest]) -> None:
    maps = {one["metadata"]["name"] for one in of_kind(overlay, "ConfigMap")}
    for workload in of_kind(overlay, *WORKLOADS):
        volumes = {volume["name"]: volume for volume in pod_of(workload)["spec"]["volumes"]}
        mounted = {mount["name"] for each in containers_of(workload) for mount in each["volumeMounts"]}
        assert mounted == set(volumes)
        for volume in volumes.values():
            assert volume.get("configMap", {}).get("name", next(iter(maps))) in maps
            secret = volume.get("secret")
            assert secret is None or secret == {"secretName": f"{workload['metadata']['name']}-grpc", "optional": True}


def test_every_pod_is_as_harmless_as_the_strictest_standard_asks(overlay: list[Manifest]) -> None:
    accounts = {one["metadata"]["name"]: one for one in of_kind(overlay, "ServiceAccount")}
    for workload in of_kind(overlay, *WORKLOADS):
        pod = pod_of(workload)["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert accounts[pod["serviceAccountName"]]["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers_of(workload):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"requests", "limits"} <= set(container["resources"])


def test_a_pod_has_longer_to_go_than_it_takes_to_drain(overlay: list[Manifest]) -> None:
    settings = _settings(overlay)
    for workload in of_kind(overlay, "Deployment"):
        (_, pause) = container_of(workload)["lifecycle"]["preStop"]["exec"]["command"]
        given = pod_of(workload)["spec"]["terminationGracePeriodSeconds"]
        assert given > int(pause) + int(settings["data"]["HORDE_DRAIN_SECONDS"])


@functools.cache
def _called_in_code() -> frozenset[tuple[str, str]]:
    """Who opens a channel to whom: every `settings.X_target` in a service's code."""
    found = set()
    for path in (ROOT / "services").rglob("*.py"):
        caller = path.relative_to(ROOT / "services").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(f"settings.{node.attr}"):
                found.add((caller, node.attr))
    return frozenset((caller, name.removesuffix("_target")) for caller, name in found if name.endswith("_target"))


def _allowed(policies: list[Manifest], side: str, peer: str) -> Iterator[tuple[str, str]]:
    for policy in policies:
        mine = policy["spec"]["podSelector"].get("matchLabels", {}).get("app.kubernetes.io/name")
        for rule in policy["spec"].get(side, ()):
            for other in rule.get(peer, ()):
                name = other.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/name")
                if mine and name and mine != name:
                    yield mine, name


def test_the_network_lets_through_the_calls_that_the_code_makes_and_no_other(overlay: list[Manifest]) -> None:
    policies = of_kind(overlay, "NetworkPolicy")
    called = _called_in_code()
    assert set(_allowed(policies, "egress", "to")) == called
    assert {(caller, callee) for callee, caller in _allowed(policies, "ingress", "from")} == called


def test_a_service_lets_in_by_certificate_whom_the_code_makes_call_it_and_nobody_else(overlay: list[Manifest]) -> None:
    for name in (one["metadata"]["name"] for one in of_kind(overlay, "Deployment")):
        variables = container_of(named(overlay, "Deployment", name))["env"]
        listed = [one["value"] for one in variables if one["name"] == "HORDE_TLS_ALLOWED_CALLERS"]
        callers = {caller for caller, callee in _called_in_code() if callee == name}
        assert [set(names.split(",")) for names in listed] == ([callers] if callers else [])


def test_production_gives_each_service_a_certificate_for_its_own_name(production: list[Manifest]) -> None:
    data = _settings(production)["data"]
    for name in (one["metadata"]["name"] for one in of_kind(production, "Deployment")):
        certificate = named(production, "Certificate", name)["spec"]
        assert certificate["dnsNames"] == [name]
        assert {"client auth", "server auth"} <= set(certificate["usages"])
        assert certificate["issuerRef"]["name"] in {one["metadata"]["name"] for one in of_kind(production, "Issuer")}
        volume = {one["name"]: one for one in pod_of(named(production, "Deployment", name))["spec"]["volumes"]}
        assert certificate["secretName"] == volume["certificate"]["secret"]["secretName"]
        (mounted,) = (
            mount["mountPath"]
            for mount in container_of(named(production, "Deployment", name))["volumeMounts"]
            if mount["name"] == "certificate"
        )
        # the names of the keys are cert-manager's
        keys = (("CERT", "tls.crt"), ("KEY", "tls.key"), ("CA", "ca.crt"))
        assert all(data[f"HORDE_TLS_{which}_FILE"] == f"{mounted}/{key}" for which, key in keys)


def test_production_balances_over_pods_that_spread_scale_and_are_not_drained_at_once(
    production: list[Manifest],
) -> None:
    budgets = {one["metadata"]["name"]: one["spec"] for one in of_kind(production, "PodDisruptionBudget")}
    for name in (one["metadata"]["name"] for one in of_kind(production, "Deployment")):
        scaler = named(production, "HorizontalPodAutoscaler", name)["spec"]
        assert scaler["minReplicas"] >= 2
        assert scaler["maxReplicas"] > scaler["minReplicas"]
        assert "replicas" not in named(production, "Deployment", name)["spec"]
        assert budgets[name]["maxUnavailable"] == 1
        headless = named(production, "Service", name)["spec"].get("clusterIP") == "None"
        assert headless == (name != "gateway")
        keys = [
            each["topologyKey"]
            for each in pod_of(named(production, "Deployment", name))["spec"]["topologySpreadConstraints"]
        ]
        assert keys == ["topology.kubernetes.io/zone"]


def test_the_ingress_holds_no_stream_back_and_repeats_no_submit(production: list[Manifest]) -> None:
    (ingress,) = of_kind(production, "Ingress")
    said = {
        name.rpartition("/")[2]: value for name, value in ingress["metadata"]["annotations"].items() if "nginx" in name
    }
    data = _settings(production)["data"]
    assert said["proxy-buffering"] == "off"
    assert int(said["proxy-read-timeout"]) > int(data["HORDE_FRONT_STREAM_BUDGET_SECONDS"])
    assert int(said["proxy-send-timeout"]) > int(data["HORDE_FRONT_STREAM_BUDGET_SECONDS"])
    assert said["proxy-next-upstream"] == "off"
    assert data["HORDE_PROXY_TRUSTED_HOPS"] == "1"
    # a setting of the controller, which is not ours to deploy
    text = (ROOT / "deploy/kubernetes/overlays/production/ingress.yaml").read_text()
    assert 'enable-underscores-in-headers: "true"' in text
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "gateway", "port": {"name": "http"}}


def test_dispatch_listens_past_the_pooler_and_nothing_counts_on_a_session_of_it(production: list[Manifest]) -> None:
    (pooler,) = of_kind(production, "Pooler")
    assert pooler["spec"]["cluster"]["name"] == named(production, "Cluster", "postgres")["metadata"]["name"]
    assert pooler["spec"]["pgbouncer"]["poolMode"] == "transaction"
    assert _settings(production)["data"]["HORDE_DATABASE_STATEMENT_CACHE"] == "0"
    for deployment in of_kind(production, "Deployment"):
        listens = ("postgres", "dispatch-listen-url") in set(secrets_of(container_of(deployment)))
        assert listens == (deployment["metadata"]["name"] == "dispatch")


def test_the_stores_let_in_who_uses_them(production: list[Manifest]) -> None:
    """What leads out of a service to a store of this overlay leads into that store as well."""
    policies = of_kind(production, "NetworkPolicy")
    for store, label in (("postgres", "cnpg.io/cluster"), ("valkey", "app.kubernetes.io/name")):
        mine = {label: store}
        out = {
            name
            for policy in policies
            for rule in policy["spec"].get("egress", ())
            if any(_matches(to.get("podSelector", {}), mine) and "podSelector" in to for to in rule.get("to", ()))
            for name in _chosen(policy["spec"]["podSelector"])
        }
        into = {
            name
            for policy in policies
            if policy["spec"]["podSelector"].get("matchLabels") == mine
            for rule in policy["spec"].get("ingress", ())
            for other in rule["from"]
            if "namespaceSelector" not in other
            for name in _chosen(other["podSelector"])
        }
        assert out == into


def _chosen(selector: Manifest) -> set[str]:
    """The names that a selector says it selects."""
    among = {name for each in selector.get("matchExpressions", ()) for name in each["values"]}
    return among | set(selector.get("matchLabels", {}).values())
