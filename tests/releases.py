"""The releases that docs/releases.toml names, the newest last, and whether this clone has their history."""

import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.sizes import ROOT

RELEASES: list[dict[str, str]] = tomllib.loads((ROOT / "docs" / "releases.toml").read_text())["release"]


def is_shallow(git: Sequence[str | Path]) -> bool:
    """Whether the clone that `git` speaks of was made without its history."""
    asked = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() == "true"
