"""What a release has brought to databases is never edited: who upgrades from it would not get the change."""

import importlib.util
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.releases import RELEASES, is_shallow
from tools.sizes import ROOT

STORE = Path("horde/store")


def released_files(schema: str) -> Iterator[Path]:
    """Every file that a database at this revision was made by."""
    for path in sorted((ROOT / STORE / "migrations" / "versions").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        revision = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(revision)
        if revision.revision <= schema:
            yield path.relative_to(ROOT)
            yield from (STORE / step for step in (*revision.STEPS, *getattr(revision, "INDEXES", ())))


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release["schema"])
def test_the_files_of_a_released_schema_are_as_they_were(
    release: dict[str, str], system_tool: Callable[[str], Path]
) -> None:
    git: list[str | Path] = [system_tool("git"), "-C", ROOT]
    files = list(released_files(release["schema"]))
    assert len(files) > 20
    asked = subprocess.run(
        [*git, "diff", "--name-only", release["commit"], "--", *files], capture_output=True, text=True, check=False
    )
    if asked.returncode != 0 and (is_shallow(git) or not os.environ.get("CI")):
        pytest.skip("the release is not in this clone's history")
    assert (asked.returncode, asked.stdout) == (0, "")
