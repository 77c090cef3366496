"""The system a benchmark runs against: an ephemeral one, or one that runs already."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from horde.cli.stack.ports import free_ports

_START_SECONDS = 120
_STOP_SECONDS = 30


@dataclass(frozen=True)
class System:
    """Where a running system is and which processes it consists of."""

    gateway_url: str
    database_url: str
    secret_key: str
    pids: Mapping[str, int]
    redis_url: str
    grpc: Mapping[str, str]
    """The address of each service's gRPC."""
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Where Prometheus would read each service."""

    def watching(self, name: str, pid: int) -> "System":
        """The same, with one process of it counted by itself."""
        return replace(self, pids={**self.pids, name: pid})


@contextmanager
def running_system(data_dir: Path | None, settings: Mapping[str, str] | None = None) -> Iterator[System]:
    """The system of `data_dir`, or a fresh one with these settings that is stopped afterwards.

    Exits with a message when there is none.
    """
    if data_dir is not None:
        yield _read(data_dir)
        return
    with tempfile.TemporaryDirectory(prefix="horde-bench-") as folder:
        # as root, Postgres runs as another user and has to reach its folder
        Path(folder).chmod(0o755)
        home = Path(folder) / "data"
        environment = {**os.environ, **(settings or {}), "HORDE_RATE_LIMITS_ENABLED": "false"}
        (port,) = free_ports(1)
        command = [sys.executable, "-m", "horde", "up", "--no-demo", "--port", str(port), "--data-dir", str(home)]
        with (
            (Path(folder) / "up.log").open("wb") as log,
            subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
        ):
            try:
                _wait(home, process, Path(folder) / "up.log")
                yield _read(home)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(_STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()


def _wait(home: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while not (home / "stack.json").exists():
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"the system did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.1)


def _read(home: Path) -> System:
    try:
        stack = json.loads((home / "stack.json").read_text())
        secrets = json.loads((home / "secrets.json").read_text())
    except FileNotFoundError as missing:
        sys.exit(
            f"no running system in {home}: {missing.filename} is missing; start one with `horde up --data-dir {home}`"
        )
    return System(
        stack["gateway_url"],
        stack["database_url"],
        secrets["secret_key"],
        stack["pids"],
        stack["redis_url"],
        stack["grpc"],
        stack["metrics"],
    )
