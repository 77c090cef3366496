"""The compose file against the code it runs. No engine starts it here: what is checked is what it says."""

import yaml

from horde.contract.ip_subject import has_real_secret
from horde.settings import env_names
from tests.manifests import ROOT
from tools.docs import settings_classes

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def test_each_service_gets_what_it_needs_and_nothing_unknown() -> None:
    known = {name for _, cls in settings_classes() for field in cls.model_fields.values() for name in env_names(field)}
    for name, cls in settings_classes():
        if name == "horde up":
            continue
        given = SERVICES[name]
        assert given["command"] == ["serve", name]
        assert set(given["environment"]) <= known
        for field in cls.model_fields.values():
            names = env_names(field)
            assert not field.is_required() or set(names) & set(given["environment"]), (name, names)


def test_whoever_is_waited_for_can_become_what_is_waited_for() -> None:
    for name, service in SERVICES.items():
        for other, wanted in service.get("depends_on", {}).items():
            match wanted["condition"]:
                case "service_healthy":
                    assert "healthcheck" in SERVICES[other], (name, other)
                case "service_completed_successfully":
                    assert SERVICES[other]["restart"] == "no", (name, other)
                case condition:
                    assert condition == "service_started", (name, other)


def test_every_volume_is_declared_and_every_target_is_a_service() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / "deploy" / source).exists()
        for variable, value in service.get("environment", {}).items():
            if variable.endswith("_TARGET"):
                host, _, port = value.removeprefix("dns:///").partition(":")
                assert SERVICES[host]["environment"]["HORDE_GRPC_LISTEN"] == f"0.0.0.0:{port}"


def test_only_this_machine_reaches_the_published_ports() -> None:
    for service in SERVICES.values():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")


def test_a_container_has_longer_to_go_than_it_takes_to_drain() -> None:
    for name, _ in settings_classes():
        if name != "horde up":
            assert SERVICES[name]["stop_grace_period"] == "30s"
            assert SERVICES[name]["read_only"] is True
            assert SERVICES[name]["cap_drop"] == ["ALL"]


def test_no_pseudonym_is_made_with_a_secret_that_everybody_can_read_here() -> None:
    secrets = {service["environment"].get("secret_key") for service in SERVICES.values() if "environment" in service}
    assert any(secrets)
    assert not any(has_real_secret(secret) for secret in secrets)
