"""The Kubernetes manifests as they are rendered, and how a container's environment comes out of them."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
KUBERNETES = ROOT / "deploy" / "kubernetes"
DOCKERFILE = ROOT / "deploy" / "Dockerfile"

type Manifest = dict[str, Any]


def rendered(overlay: str, kubectl: Path) -> list[Manifest]:
    """Everything one overlay makes."""
    command = [str(kubectl), "kustomize", str(KUBERNETES / "overlays" / overlay)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(made.stdout))


def of_kind(manifests: list[Manifest], *kinds: str) -> list[Manifest]:
    """Those of one or several kinds."""
    return [one for one in manifests if one["kind"] in kinds]


def named(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    """The one with this name."""
    (found,) = (one for one in of_kind(manifests, kind) if one["metadata"]["name"] == name)
    return found


def pod_of(workload: Manifest) -> Manifest:
    """The pod template of a Deployment, a Job or a StatefulSet."""
    pod: Manifest = workload["spec"]["template"]
    return pod


def containers_of(workload: Manifest) -> list[Manifest]:
    """The containers of any workload."""
    return list(pod_of(workload)["spec"]["containers"])


def container_of(workload: Manifest) -> Manifest:
    """The one container of our own workloads."""
    (container,) = pod_of(workload)["spec"]["containers"]
    return dict(container)


def command_of(container: Manifest) -> list[str]:
    """What the container runs: the manifest's command or the image's entry point, and the arguments."""
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE.read_text(), re.MULTILINE)
    assert entry is not None
    return [*container.get("command", json.loads(entry[1])), *container.get("args", ())]


def environment_of(
    container: Manifest, manifests: list[Manifest], secrets: Mapping[tuple[str, str], str]
) -> dict[str, str]:
    """The variables of a container, each reference followed; `secrets`: (name, key) → value.

    Raises KeyError when one leads nowhere.
    """
    made: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        made |= named(manifests, "ConfigMap", source["configMapRef"]["name"])["data"]
    for variable in container.get("env", ()):
        reference = variable.get("valueFrom", {}).get("secretKeyRef")
        made[variable["name"]] = (
            variable["value"] if reference is None else secrets[reference["name"], reference["key"]]
        )
    return made


def secrets_of(container: Manifest) -> Iterator[tuple[str, str]]:
    """The secrets that the container's variables refer to, as (name, key)."""
    for variable in container.get("env", ()):
        reference = variable.get("valueFrom", {}).get("secretKeyRef")
        if reference is not None:
            yield reference["name"], reference["key"]
