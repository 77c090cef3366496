"""`./run check` and `./run test`: everything CI holds a change against, in order, one line each.

`python -m tools.checks` runs the checks. `--tests` runs the tests too; with a selection behind `--` only those tests.
A check prints nothing but its name and time unless it fails.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tools.sizes import ROOT

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Check:
    """One command that must end with 0."""

    name: str
    command: tuple[str, ...]


CHECKS = (
    Check("format", (str(BIN / "ruff"), "format", "--check", "--quiet", ".")),
    Check("lint", (str(BIN / "ruff"), "check", "--quiet", ".")),
    Check("types", (str(BIN / "mypy"), "--no-error-summary")),
    Check("imports", (str(BIN / "lint-imports"), "--no-cache")),
    Check("sizes", (sys.executable, "-m", "tools.sizes")),
    Check("house rules", (sys.executable, "-m", "tools.lint")),
    Check("revisions", (sys.executable, "-m", "tools.revisions")),
    Check("protos", (sys.executable, "-m", "tools.protos", "--check")),
    Check("pages", (sys.executable, "-m", "tools.docs", "--check")),
    Check("dashboards", (sys.executable, "-m", "tools.observe", "--check")),
    Check("locks", (sys.executable, "-m", "tools.locks", "--check")),
)


def run_checks() -> list[str]:
    """Run them all, also after a failure; returns the names of those that failed."""
    failed = []
    for check in CHECKS:
        began = time.monotonic()
        done = subprocess.run(check.command, cwd=ROOT, capture_output=True, text=True, check=False)
        verdict = "ok" if done.returncode == 0 else "FAILED"
        print(f"{check.name:<12} {verdict:<6} {time.monotonic() - began:5.1f} s", flush=True)
        if done.returncode != 0:
            failed.append(check.name)
            print((done.stdout + done.stderr).rstrip(), flush=True)
    return failed


def run_tests(selection: list[str]) -> int:
    """Run pytest with its own output; returns its exit code."""
    return subprocess.run([str(BIN / "pytest"), *selection], cwd=ROOT, check=False).returncode


def main() -> int:
    """Entry point; 0 only when everything held."""
    parser = argparse.ArgumentParser(prog="python -m tools.checks", description=__doc__)
    parser.add_argument("--tests", action="store_true", help="run the tests too")
    parser.add_argument("selection", nargs="*", help="only these tests, and no checks: anything pytest understands")
    arguments = parser.parse_args()
    failed = [] if arguments.selection else run_checks()
    if arguments.tests and run_tests(arguments.selection) != 0:
        failed.append("tests")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
