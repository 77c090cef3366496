"""What others know of manifests and images: Kubernetes' own schemas, checkov, hadolint."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tests.manifests import DOCKERFILE, KUBERNETES, rendered
from tests.system.clients.environments import NotInstalled, checkov

SCHEMAS = "1.33"
OF_OPERATORS = ("postgresql.cnpg.io/", "cert-manager.io/")
"""Their schemas are in the operators' own repositories; nothing here holds manifests against them."""


@pytest.mark.parametrize("overlay", ["local", "production"])
def test_every_manifest_is_one_that_kubernetes_knows(overlay: str, system_tool: Callable[[str], Path]) -> None:
    manifests = rendered(overlay, system_tool("kubectl"))
    known = [one for one in manifests if not one["apiVersion"].startswith(OF_OPERATORS)]
    assert len(known) > 30
    for one in known:
        kubernetes_validate.validate(one, SCHEMAS, strict=True)


@pytest.mark.parametrize("overlay", ["local", "production"])
def test_checkov_finds_nothing_but_what_is_skipped_with_a_reason(
    overlay: str, system_tool: Callable[[str], Path], tmp_path: Path
) -> None:
    try:
        program = checkov()
    except NotInstalled as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    judged = tmp_path / "rendered.yaml"
    judged.write_text(yaml.safe_dump_all(rendered(overlay, system_tool("kubectl"))))
    command = [str(program), "--config-file", str(KUBERNETES / "checkov.yaml"), "--file", str(judged)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "Failed checks: 0" in done.stdout


def test_every_check_that_is_skipped_has_its_reason_above_it() -> None:
    lines = (KUBERNETES / "checkov.yaml").read_text().splitlines()
    for before, line in itertools.pairwise(lines):
        if line.lstrip().startswith("- CKV"):
            assert before.lstrip().startswith("# ")


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
