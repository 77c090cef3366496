"""The embedded S3 (SeaweedFS): started on free ports, ready when a signed write has gone through."""

import asyncio
import http.client
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from horde.cli.stack.data_folder import write_private
from horde.cli.stack.ports import free_ports, is_free
from horde.cli.stack.processes import Died, Launch, Processes
from horde.failures import StartError

START_SECONDS = 60.0
ATTEMPTS = 3  # another program can take a port between our look and the server's
MEMORY = {"GOMEMLIMIT": "400MiB", "GOGC": "50"}
"""Bounds what it holds after load. It maps more than 200 MiB while idle: under such a limit its collector never rests,
and an eighth of a core is gone for nothing."""

ROLES = ("s3", "master", "volume", "filer", "admin")  # each has an HTTP and a gRPC port
GRPC_DISTANCE = 10_000
CANDIDATES = 20  # ports to look at for one that is free at this distance too
ALL_ACTIONS = ("Admin", "Read", "Write", "List", "Tagging")
EVIDENCE_ACTIONS = ("Read", "Write", "List")


@dataclass(frozen=True)
class Keys:
    """One identity of the server."""

    name: str
    access: str
    secret: str
    bucket: str | None = None  # None: everything

    def as_identity(self) -> dict[str, object]:
        """In the words of SeaweedFS's configuration."""
        actions = ALL_ACTIONS if self.bucket is None else [f"{action}:{self.bucket}" for action in EVIDENCE_ACTIONS]
        return {
            "name": self.name,
            "credentials": [{"accessKey": self.access, "secretKey": self.secret}],
            "actions": list(actions),
        }


class Seaweed:
    """One server. `start` it and ask for its `endpoint`."""

    name = "s3"

    def __init__(self, folder: Path, processes: Processes, *, keys: Sequence[Keys]) -> None:
        self._folder = folder
        self._processes = processes
        self._keys = keys
        self._ports: dict[str, int] = {}

    @property
    def endpoint(self) -> str:
        """The address of the S3 interface."""
        return f"http://127.0.0.1:{self._ports['s3']}"

    async def start(self) -> None:
        """Start the server. Raises StartError when it cannot run here."""
        program = _program()
        self._folder.mkdir(exist_ok=True)
        identities = {"identities": [keys.as_identity() for keys in self._keys]}
        write_private(self._folder.with_name("s3.json"), json.dumps(identities))
        for attempt in range(1, ATTEMPTS + 1):
            self._ports = self._choose_ports(again=attempt == 1)
            process = await self._processes.start(self._launch(program))
            try:
                await process.until(self._is_healthy, START_SECONDS)
            except Died as death:
                await self._processes.stop(self.name)
                if attempt == ATTEMPTS or "address already in use" not in death.process.tail():
                    raise
            else:
                return

    def _choose_ports(self, *, again: bool) -> dict[str, int]:
        """The ports of the last run when they are free, else new ones: its master names its own folder by the port."""
        remembered = self._folder.with_name("s3-ports.json")
        if again and remembered.exists():
            ports: dict[str, int] = json.loads(remembered.read_text())
            if all(is_free(port) for port in ports.values()):
                return ports
        names = [f"{role}{kind}" for role in ROLES for kind in ("", ".grpc")]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        # Its own maintenance worker looks for the admin's gRPC port at this distance and nowhere else.
        taken = set(ports.values())
        near = (port for port in free_ports(CANDIDATES) if not {port, port + GRPC_DISTANCE} & taken)
        ports["admin"] = next(port for port in near if is_free(port + GRPC_DISTANCE))
        ports["admin.grpc"] = ports["admin"] + GRPC_DISTANCE
        write_private(remembered, json.dumps(ports))
        return ports

    def _launch(self, program: Path) -> Launch:
        ports = [f"-{role}.port{kind}={self._ports[role + kind]}" for role in ROLES for kind in ("", ".grpc")]
        return Launch(
            name=self.name,
            command=[
                program,
                "-logtostderr",
                "mini",
                *(f"-dir={self._folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *ports),
                # Sockets named after a port in the temporary folder would stop the next user of that port.
                *(f"-s3.localSocket={self._folder}/s3.sock", f"-filer.localSocket={self._folder}/filer.sock"),
                f"-s3.config={self._folder.with_name('s3.json')}",
                *("-master.telemetry=false", "-webdav=false", "-admin.ui=false"),
                *("-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.preStopSeconds=0"),
            ],
            env={**os.environ, **MEMORY},
            cwd=self._folder,
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGKILL,  # it can hang in its own shutdown; its data survives this
            grace_seconds=3.0,
        )

    async def _is_healthy(self) -> bool:
        return await asyncio.to_thread(self._ask)

    def _ask(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._ports["s3"], timeout=1)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == http.HTTPStatus.OK
        finally:
            connection.close()


def _program() -> Path:
    beside = Path(sys.executable).with_name("weed")
    found = beside if beside.exists() else shutil.which("weed")
    if found is None:
        raise StartError("no embedded S3 server for this platform: set HORDE_S3_ENDPOINT to a server of your own")
    return Path(found)
