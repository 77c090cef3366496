"""`--console-log`: the logs of all processes on the terminal, each line under the name of its process."""

import asyncio
import sys
from pathlib import Path

POLL_SECONDS = 0.2  # soon enough for a person


async def follow(folder: Path) -> None:
    """Copy every new line of every log in `folder` to stderr, until cancelled.

    The processes write to files, never to a pipe of ours: so none can be stopped by a slow terminal.
    """
    read: dict[Path, int] = {}
    while True:
        for log in sorted(folder.glob("*.log")):
            read[log] = _copy(log, read.get(log, 0))
        await asyncio.sleep(POLL_SECONDS)


def _copy(log: Path, start: int) -> int:
    with log.open("rb") as file:
        file.seek(start)
        fresh = file.read()
    whole = fresh[: fresh.rfind(b"\n") + 1]
    for line in whole.decode(errors="replace").splitlines():
        print(f"{log.stem:>11} | {line}", file=sys.stderr)
    return start + len(whole)
