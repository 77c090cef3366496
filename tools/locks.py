"""Solve the requirements and write requirements/*.lock; `--check` proves that the locks still answer pyproject.toml.

The locks hold versions and hashes and no address, so that they mean the same wherever packages come from. Settings of
the machine that would leak into them are kept out. Needs uv on the PATH or beside the environment.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.sizes import ROOT

FOLDER = ROOT / "requirements"
OLDEST_PYTHON = "3.12"
SOLVE = (
    "pip",
    "compile",
    "--quiet",
    "--generate-hashes",
    "--universal",
    "--no-header",
    *("--python-version", OLDEST_PYTHON),
)
LOCKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("local", ("pyproject.toml", "--group", "local")),
    ("all", ("pyproject.toml", "--group", "dev", "--constraints", "requirements/local.lock")),
    ("serve", ("pyproject.toml", "--constraints", "requirements/local.lock")),
    ("demo", ("--group", "pyproject.toml:demo")),
    ("clients", ("--group", "pyproject.toml:clients")),
    ("checkov", ("--group", "pyproject.toml:checkov")),
)
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def write() -> None:
    """Solve all again, keeping pinned versions that still fit. Raises SystemExit with uv's message."""
    uv = _uv()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    for name, arguments in LOCKS:
        command = [uv, *SOLVE, *arguments, "--output-file", f"requirements/{name}.lock"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"requirements/{name}.lock cannot be solved:\n{done.stderr.strip()}")


def problems() -> list[str]:
    """What is wrong with the locks, without a network: an address in one, or a direct requirement that is missing."""
    found = []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    direct = {"serve": project["project"]["dependencies"]}
    direct |= {"local": [*project["project"]["dependencies"], *project["dependency-groups"]["local"]]}
    direct["all"] = [*direct["local"], *project["dependency-groups"]["dev"]]
    for group in ("demo", "clients", "checkov"):
        direct[group] = project["dependency-groups"][group]
    for name, wanted in direct.items():
        text = (FOLDER / f"{name}.lock").read_text()
        pinned = {_normal(line) for line in text.splitlines() if _NAME.match(line)}
        if "://" in text:
            found.append(f"requirements/{name}.lock holds an address")
        missing = [each for each in wanted if isinstance(each, str) and _normal(each) not in pinned]
        found += [f"requirements/{name}.lock lacks {each}: run `./run lock`" for each in missing]
    return found


def _normal(requirement: str) -> str:
    name = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", name.group()).lower() if name else ""


def _uv() -> str:
    beside: Sequence[Path] = [ROOT / ".uv" / "bin" / "uv"]
    found = shutil.which("uv") or next((str(path) for path in beside if path.exists()), None)
    if found is None:
        raise SystemExit("solving needs uv: install it, then run this again")
    return found


def main() -> int:
    """Entry point; with --check the exit code is 1 when a lock does not answer pyproject.toml."""
    parser = argparse.ArgumentParser(prog="python -m tools.locks", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when a lock is out of date")
    if not parser.parse_args().check:
        write()
        return 0
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
