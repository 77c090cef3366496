"""The Deployments of an overlay as local processes, treated as a cluster treats their pods: probed, listed, replaced.

What differs from a cluster stands in `Cluster._adapted`: a pod's addresses are loopback ones, names are asked of our
own name server, secrets lie in a folder. Command, arguments, variables, probes, grace and strategy are the manifest's.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from horde.cli.stack.processes import tied_to_us
from tests.fakes.name_server import PORT, NameServer
from tests.manifests import Manifest, command_of, container_of, environment_of, named, of_kind, pod_of
from tests.system.pod_network import service_address

_STARTED_WITHIN_SECONDS = 120


class PodFailed(AssertionError):
    """A pod did not do what its manifest promises: ended by itself, was found dead by its probe, outlived its grace."""


@dataclass
class Pod:
    """One process, as a kubelet runs it."""

    name: str
    address: str
    deployment: Manifest
    environment: Mapping[str, str]
    log: Path
    ready: bool = False
    leaving: bool = False
    restarts: list[str] = field(default_factory=list)
    """Why the kubelet would have restarted it."""

    def __post_init__(self) -> None:
        self.labels: Mapping[str, str] = pod_of(self.deployment)["metadata"]["labels"]
        self._container = container_of(self.deployment)
        self._ports = {port["name"]: port["containerPort"] for port in self._container["ports"]}
        self._process: asyncio.subprocess.Process | None = None
        self._probing: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start it; returns when its startup probe has passed, from when on the other probes run."""
        with self.log.open("ab") as log:
            program, *arguments = command_of(self._container)
            self._process = await asyncio.create_subprocess_exec(
                *tied_to_us("keep", signal.SIGTERM),
                shutil.which(program, path=self.environment["PATH"]) or program,
                *arguments,
                env=dict(self.environment),
                stdout=log,
                stderr=log,
                cwd="/tmp",  # noqa: S108 - the image's own working directory
            )
        startup = self._container["startupProbe"]
        for _ in range(startup["failureThreshold"]):
            if await self._passes(startup):
                break
            self._still_runs()
            await asyncio.sleep(startup["periodSeconds"])
        else:
            raise PodFailed(f"{self.name} did not start:\n{self.said()}")
        self._probing = [asyncio.create_task(self._keep_reading()), asyncio.create_task(self._keep_watching())]

    async def stop(self) -> None:
        """End it as a kubelet does: preStop, SIGTERM, and SIGKILL when its grace is over, which is a failure."""
        self.leaving = True
        self.ready = False
        await self.stop_probing()
        assert self._process is not None
        grace = pod_of(self.deployment)["spec"]["terminationGracePeriodSeconds"]
        try:
            async with asyncio.timeout(grace):
                hook = self._container["lifecycle"]["preStop"]["exec"]["command"]
                pausing = await asyncio.create_subprocess_exec(*hook, env=dict(self.environment))
                assert await pausing.wait() == 0
                self._still_runs()
                self._process.send_signal(signal.SIGTERM)
                ended = await self._process.wait()
        except TimeoutError:
            await self.kill()
            raise PodFailed(f"{self.name} outlived its grace of {grace} s:\n{self.said()}") from None
        if ended != 0:
            raise PodFailed(f"{self.name} ended with {ended}:\n{self.said()}")

    async def kill(self) -> None:
        """End it now; nothing when it has ended."""
        await self.stop_probing()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def stop_probing(self) -> None:
        """No probe runs any more."""
        for task in self._probing:
            task.cancel()
        await asyncio.gather(*self._probing, return_exceptions=True)
        self._probing = []

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-3000:]

    def _still_runs(self) -> None:
        if self._process is None or self._process.returncode is not None:
            raise PodFailed(f"{self.name} ended by itself:\n{self.said()}")

    async def _keep_reading(self) -> None:
        """The readiness probe: `failureThreshold` failures in a row take it out of the list, one success puts it in."""
        probe = self._container["readinessProbe"]
        failed = 0
        while True:
            failed = 0 if await self._passes(probe) else failed + 1
            if failed == 0 or failed >= probe["failureThreshold"]:
                self.ready = failed == 0 and not self.leaving
            await asyncio.sleep(probe["periodSeconds"])

    async def _keep_watching(self) -> None:
        """The liveness probe; three failures in a row are Kubernetes' default."""
        probe = self._container["livenessProbe"]
        failed = 0
        while True:
            failed = 0 if await self._passes(probe) else failed + 1
            if failed >= probe.get("failureThreshold", 3):
                self.restarts.append(self.said())
            await asyncio.sleep(probe["periodSeconds"])

    async def _passes(self, probe: Mapping[str, Any]) -> bool:
        asked = probe["httpGet"]
        url = f"http://{self.address}:{self._ports[asked['port']]}{asked['path']}"
        try:
            async with httpx.AsyncClient(timeout=probe.get("timeoutSeconds", 1)) as http:
                return (await http.get(url)).is_success
        except httpx.HTTPError:
            return False


class Cluster:
    """The pods of one overlay. In `async with Cluster.running(…)` every Deployment has its replicas, all ready."""

    def __init__(
        self, manifests: list[Manifest], values: Mapping[tuple[str, str], str], changed: Mapping[str, str], folder: Path
    ) -> None:
        self._manifests = manifests
        self._values = values
        self._changed = changed
        self._folder = folder
        # one network of loopback addresses for each cluster, so that several on one machine do not meet
        self._network = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(256)}"
        self._last = 9
        self._pods: list[Pod] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def running(
        cls,
        manifests: list[Manifest],
        values: Mapping[tuple[str, str], str],
        changed: Mapping[str, str],
        folder: Path,
    ) -> AsyncIterator["Cluster"]:
        """A cluster. `values`: what the secrets hold; `changed`: variables that are not what the overlay says.

        A mounted secret is the folder of its name in `folder`.
        """
        self = cls(manifests, values, changed, folder)
        http = container_of(named(manifests, "Deployment", "gateway"))["ports"]
        (target,) = (port["containerPort"] for port in http if port["name"] == "http")
        gateway = service_address(self._gateway, 80, lambda: self._endpoints("gateway") or [], target)
        try:
            async with NameServer.serving(self._names, self._endpoints), gateway:
                await self._start_all()
                yield self
                await asyncio.gather(*(pod.stop() for pod in self._pods))
        finally:
            for pod in self._pods:
                await pod.kill()

    @property
    def url(self) -> str:
        """Where the ingress goes: the gateway's service."""
        return f"http://{self._gateway}:80"

    def pods(self, name: str) -> list[Pod]:
        """The pods of one Deployment that are not leaving."""
        return [pod for pod in self._pods if pod.deployment["metadata"]["name"] == name and not pod.leaving]

    @property
    def restarts(self) -> list[str]:
        """Logs of the pods that their liveness probe found dead."""
        return [log for pod in self._pods for log in pod.restarts]

    async def restart(self, name: str) -> None:
        """`kubectl rollout restart`: one more pod, and when it is ready, one of the old ones less, until all are new.

        Raises PodFailed.
        """
        rolling = named(self._manifests, "Deployment", name)["spec"]["strategy"]["rollingUpdate"]
        assert rolling == {"maxSurge": 1, "maxUnavailable": 0}, "this is what is played here"
        for old in self.pods(name):
            await self._start(name)
            await old.stop()
            self._pods.remove(old)

    async def _start_all(self) -> None:
        deployments = of_kind(self._manifests, "Deployment")
        names = [one["metadata"]["name"] for one in deployments for _ in range(one["spec"].get("replicas", 1))]
        await asyncio.gather(*(self._start(name) for name in names))

    async def _start(self, name: str) -> None:
        """One more pod of a Deployment; returns when it is ready."""
        deployment = named(self._manifests, "Deployment", name)
        self._last += 1
        address = f"{self._network}.{self._last}"
        pod = Pod(
            f"{name}-{self._last}",
            address,
            deployment,
            self._adapted(deployment, address),
            self._folder / f"{name}-{self._last}.log",
        )
        self._pods.append(pod)
        await pod.start()
        async with asyncio.timeout(_STARTED_WITHIN_SECONDS):
            while not pod.ready:  # noqa: ASYNC110 - as a controller, which looks at what the kubelet reports
                await asyncio.sleep(0.1)

    def _adapted(self, deployment: Manifest, address: str) -> dict[str, str]:
        """The pod's environment, in which only places are other ones than in a cluster."""
        wanted = environment_of(container_of(deployment), self._manifests, self._values) | dict(self._changed)
        mounts = {
            mount["mountPath"]: self._folder / volume["secret"]["secretName"]
            for volume in pod_of(deployment)["spec"]["volumes"]
            for mount in container_of(deployment)["volumeMounts"]
            if volume["name"] == mount["name"] and "secret" in volume
        }
        made = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"}
        for name, value in wanted.items():
            here = value.replace("dns:///", f"dns://{self._names}:{PORT}/").replace("0.0.0.0:", f"{address}:")
            for mounted, folder in mounts.items():
                here = here.replace(mounted, str(folder))
            made[name] = here
        return made

    def _endpoints(self, service: str) -> list[str] | None:
        """The addresses of the ready pods that a service selects."""
        for one in of_kind(self._manifests, "Service"):
            if one["metadata"]["name"] == service:
                wanted = one["spec"]["selector"].items()
                return [pod.address for pod in self._pods if pod.ready and wanted <= pod.labels.items()]
        return None

    @property
    def _names(self) -> str:
        return f"{self._network}.2"

    @property
    def _gateway(self) -> str:
        return f"{self._network}.3"
