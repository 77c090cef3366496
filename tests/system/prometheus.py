"""A real Prometheus that scrapes a running system every second, with the rules that we ship."""

import math
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import tied_to_us

OBSERVE = Path(__file__).resolve().parents[2] / "deploy" / "observe"
_READY_SECONDS = 60


class Prometheus:
    """The program on files of a test's own. Rules are evaluated every second, not every minute or so."""

    def __init__(self, program: Path, folder: Path, targets: Mapping[str, str]) -> None:
        """`targets`: what each job's `/metrics` is at, as host:port."""
        self._folder = folder
        for name in ("calls.yaml", "rules.yaml"):
            rules = re.sub(r"interval: \w+", "interval: 1s", (OBSERVE / name).read_text())
            (folder / name).write_text(rules)
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["calls.yaml", "rules.yaml"],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [target]}]} for job, target in targets.items()
            ],
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        (port,) = free_ports(1)
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)
        self._command = [
            program,
            f"--config.file={folder / 'prometheus.yaml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]

    def __enter__(self) -> Self:
        with (self._folder / "prometheus.log").open("wb") as log:
            command = [*tied_to_us("keep", signal.SIGTERM), *map(str, self._command)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)
        end = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            if time.monotonic() > end or self._process.poll() is not None:
                raise TimeoutError((self._folder / "prometheus.log").read_text()[-2000:])
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
        self._process.terminate()
        self._process.wait(30)

    def ask(self, expression: str) -> list[float]:
        """The values of an expression now, those that are no number left out. Raises AssertionError for an error."""
        answer = self._http.get("/api/v1/query", params={"query": expression})
        told = answer.json()
        if told["status"] != "success":
            raise AssertionError(f"{expression}: {told['error']}")
        found = told["data"]["result"]
        series = [found] if told["data"]["resultType"] == "scalar" else [one["value"] for one in found]
        values = [float(value) for _, value in series]
        return [value for value in values if not math.isnan(value)]

    def rules(self) -> list[Mapping[str, Any]]:
        """Every rule with its health and its last error."""
        groups = self._http.get("/api/v1/rules").json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def _is_ready(self) -> bool:
        try:
            return self._http.get("/-/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
