"""The six services as processes of their own that a test may kill and start again."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx

from horde.cli.admin import CreatedAccount, check_ledger, create_account
from horde.cli.stack.environment import SERVICES, Stores, Surroundings
from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import tied_to_us
from tests.servers import Database, ObjectStore

SECRET = "the-secret-of-the-system-tests"
SECOND_DISPATCH = "dispatch-2"
_READY_SECONDS = 150
_STOP_SECONDS = 30
_ROLE_OF = {"admission": "horde_admission", "dispatch": "horde_dispatch", "moderation": "horde_moderation"}


class Services:
    """Six running services on stores that the test session has. Every port stays the same after a restart."""

    def __init__(
        self, folder: Path, database: Database, redis_url: str, s3: ObjectStore, settings: Mapping[str, str]
    ) -> None:
        gateway_port, second_dispatch, *ports = free_ports(len(SERVICES) + 1)
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._surroundings = Surroundings(
            given={
                **{name: value for name, value in os.environ.items() if not name.startswith("HORDE_")},
                "R2_SOURCE_IMAGE_BUCKET": s3.bucket("system"),
                "HORDE_RATE_LIMITS_ENABLED": "false",
                **settings,
            },
            stores=Stores(
                database_url=database.url,
                logins={service: database.url_for(role) for service, role in _ROLE_OF.items()},
                redis_url=redis_url,
                s3_endpoint=s3.endpoint,
                s3_access_key=s3.access_key,
                s3_secret_key=s3.secret_key,
                evidence={},
            ),
            secret_key=SECRET,
            gateway_port=gateway_port,
            grpc_ports=dict(zip([name for name in SERVICES if name != "gateway"], ports, strict=True)),
            run=folder,
            log_format="json",
        )
        self.database_url = database.url
        self._second_dispatch = f"127.0.0.1:{second_dispatch}"
        self._has_second_dispatch = False

    @property
    def url(self) -> str:
        """Where clients and workers go."""
        return self._surroundings.gateway_url

    def start(self, *names: str, code: Path | None = None) -> None:
        """Start these services, side by side; returns when each is ready. `code`: another tree than ours.

        `dispatch-2` is a second replica of dispatch; start it before or together with those that call it.
        """
        self._has_second_dispatch = self._has_second_dispatch or SECOND_DISPATCH in names
        for name in names:
            self._surroundings.address_file(name).unlink(missing_ok=True)
            with (self._folder / f"{name}.log").open("ab") as log:
                self._processes[name] = subprocess.Popen(
                    # none of them outlives a test run that was killed
                    [
                        *tied_to_us("keep", signal.SIGTERM),
                        sys.executable,
                        "-m",
                        "horde",
                        "serve",
                        name.removesuffix("-2"),
                    ],
                    env=self._environment(name),
                    cwd=code,
                    stdout=log,
                    stderr=log,
                )
        for name in names:
            self._until_ready(name)

    def _environment(self, name: str) -> dict[str, str]:
        environment = self._surroundings.of(name.removesuffix("-2"))
        if self._has_second_dispatch:
            environment["HORDE_DISPATCH_TARGET"] = (
                f"ipv4:{self._surroundings.target('dispatch')},{self._second_dispatch}"
            )
        if name == SECOND_DISPATCH:
            environment["HORDE_GRPC_LISTEN"] = self._second_dispatch
            environment["HORDE_ADDRESS_FILE"] = str(self._surroundings.address_file(name))
        return environment

    def end(self, name: str) -> None:
        """SIGTERM, and wait until it has drained."""
        self._processes[name].terminate()
        self._processes[name].wait(_STOP_SECONDS)

    def kill(self, name: str) -> None:
        """SIGKILL: no goodbye."""
        self._processes[name].kill()
        self._processes[name].wait()

    def stop(self) -> None:
        """End all, in good order; who doesn't is killed."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name: str) -> str:
        """What a service has written so far."""
        return (self._folder / f"{name}.log").read_text()

    def metrics(self, name: str) -> str:
        """What Prometheus would read of a service."""
        return httpx.get(self._metrics_url(name), timeout=5).text

    def metrics_target(self, name: str) -> str:
        """Where Prometheus would read it: host:port."""
        url = httpx.URL(self._metrics_url(name))
        return f"{url.host}:{url.port}"

    def _metrics_url(self, name: str) -> str:
        return str(json.loads(self._surroundings.address_file(name).read_text())["metrics"])

    def account(self, name: str, *, kudos: int = 100_000, trusted: bool = True) -> CreatedAccount:
        """A new account with many generations at once allowed."""
        made = create_account(self.database_url, SECRET, name, kudos=kudos, trusted=trusted, concurrency=500)
        return asyncio.run(made)

    def ledger_faults(self) -> list[dict[str, object]]:
        """What disproves the ledger; empty when it is sound."""
        return asyncio.run(check_ledger(self.database_url))

    def _until_ready(self, name: str) -> None:
        addresses = self._surroundings.address_file(name)
        end = time.monotonic() + _READY_SECONDS
        while time.monotonic() < end:
            if self._processes[name].poll() is not None:
                raise RuntimeError(f"{name} ended:\n{self.log(name)[-2000:]}")
            if addresses.exists() and self._answers(json.loads(addresses.read_text())["metrics"]):
                return
            time.sleep(0.05)
        raise TimeoutError(f"{name} is not ready:\n{self.log(name)[-2000:]}")

    @staticmethod
    def _answers(metrics: str) -> bool:
        try:
            return httpx.get(metrics.replace("/metrics", "/readyz"), timeout=2).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
