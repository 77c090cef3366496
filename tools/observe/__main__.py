"""Write the dashboards and the recording rules, or prove them fresh: `python -m tools.observe [--check]`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.observe import calls
from tools.observe.boards import BOARDS
from tools.observe.grafana import rendered
from tools.sizes import ROOT

OBSERVE = ROOT / "deploy" / "observe"
DASHBOARDS = OBSERVE / "dashboards"


def files() -> Iterator[tuple[Path, str]]:
    """Everything that is made, and where it stands."""
    yield OBSERVE / "calls.yaml", calls.rules()
    for board in BOARDS:
        yield DASHBOARDS / f"{board.name}.json", rendered(board)


def main() -> int:
    """Entry point; with --check the exit code is 1 when a file is stale or nobody makes it any more."""
    parser = argparse.ArgumentParser(prog="python -m tools.observe", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when a file is stale")
    only_check = parser.parse_args().check
    made = dict(files())
    stale = [path for path, fresh in made.items() if not path.exists() or path.read_text() != fresh]
    forgotten = [path for path in DASHBOARDS.glob("*.json") if path not in made]
    if only_check:
        for path in (*stale, *forgotten):
            print(f"{path.relative_to(ROOT)} is stale: run `./run proto`", file=sys.stderr)
        return 1 if stale or forgotten else 0
    DASHBOARDS.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(made[path])
    for path in forgotten:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
