"""The scripts of production's Valkey, run: a primary that dies, one that comes back, one that hands over."""

import asyncio
import secrets
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from horde.cli.stack.processes import Launch, Processes
from horde.cli.stack.valkey import server_program
from horde.live.addresses import connections
from tests.manifests import Manifest, containers_of, named, rendered

PASSWORD = "of-the-three"
SETTLED_WITHIN_SECONDS = 60

SERVER = """#!/bin/sh
exec "{program}" "$@" --bind "$ME"
"""
"""A pod's Valkey listens on all addresses, and its pod has only one; here it has to be told which."""

CLI = """#!{python}
import os, sys, redis
words, host, port = sys.argv[1:], os.environ["ME"], 6379
while words[0].startswith("-"):
    match words.pop(0):
        case "-h": host = words.pop(0)
        case "-p": port = int(words.pop(0))
        case "--raw": pass
        case option: raise SystemExit(f"{{option}}: not known here")
with redis.Redis(host=host, port=port, password=os.environ["REDISCLI_AUTH"], socket_timeout=2) as server:
    if port == 26379:
        server.response_callbacks.clear()
    answer = server.execute_command(*words)
for word in answer if isinstance(answer, list) else [answer]:
    print(word.decode() if isinstance(word, bytes) else word)
"""
"""What the scripts use of valkey-cli, which the image has and no package here brings."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each pod takes a loopback address of its own")


class Pods:
    """The StatefulSet's pods, each on a loopback address, with the scripts and variables of the manifest."""

    def __init__(self, manifests: list[Manifest], folder: Path) -> None:
        self._folder = folder
        self._processes = Processes(folder)
        self._scripts = named(manifests, "ConfigMap", "valkey")["data"]
        workload = named(manifests, "StatefulSet", "valkey")
        self._containers = {container["name"]: container for container in containers_of(workload)}
        network = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(256)}"
        names = [f"valkey-{number}.valkey" for number in range(workload["spec"]["replicas"])]
        self.addresses = {name: f"{network}.{number + 10}" for number, name in enumerate(names)}
        for name, text in (("valkey-server", SERVER), ("valkey-cli", CLI)):
            made = folder / name
            made.write_text(text.format(program=server_program(), python=sys.executable))
            made.chmod(0o755)

    @property
    def url(self) -> str:
        """What the services are given."""
        hosts = ",".join(self.addresses.values())
        return f"redis+sentinel://:{PASSWORD}@{hosts}/horde?sentinel_password={PASSWORD}"

    async def start(self, pod: str, container: str) -> None:
        """One container of a pod, with the command of the manifest."""
        shell, script = self._containers[container]["command"]
        command = [f"/bin/{shell}", str(self._script(pod, script))]
        environment = self._environment(pod, container)
        await self._processes.start(Launch(f"{pod}-{container}", command, environment, self._folder))

    async def kill(self, pod: str) -> None:
        """The server of a pod is gone without a word."""
        process = self._processes.running(f"{pod}-server")
        process.is_stopping = True
        process.handle.kill()
        await self._processes.stop(f"{pod}-server")

    async def leave(self, pod: str) -> None:
        """The preStop hook of a pod's server."""
        shell, script = self._containers["server"]["lifecycle"]["preStop"]["exec"]["command"]
        environment = self._environment(pod, "server")
        leaving = await asyncio.create_subprocess_exec(shell, str(self._script(pod, script)), env=environment)
        assert await leaving.wait() == 0

    async def stop(self) -> None:
        """All of them."""
        await self._processes.stop_all()

    async def primary(self) -> str:
        """The pod that every Sentinel calls the primary, once they agree and know two replicas of it."""
        async with asyncio.timeout(SETTLED_WITHIN_SECONDS):
            while True:
                told = await asyncio.gather(*(self._told(address) for address in self.addresses.values()))
                if None not in told and len(set(told)) == 1:
                    return next(name for name, address in self.addresses.items() if address == told[0])
                await asyncio.sleep(0.2)

    async def _told(self, address: str) -> str | None:
        async with Redis(host=address, port=26379, password=PASSWORD, decode_responses=True) as sentinel:
            try:
                state: Any = await sentinel.sentinel_master("horde")
                replicas: Any = await sentinel.sentinel_slaves("horde")
            except (RedisError, OSError):
                return None
        good = [one for one in replicas if not one["is_sdown"] and one["master-link-status"] == "ok"]
        is_whole = len(good) == 2 and state["num-other-sentinels"] == 2 and not state["is_odown"]
        return str(state["ip"]) if is_whole else None

    def _script(self, pod: str, path: str) -> Path:
        folder = self._folder / pod
        folder.mkdir(exist_ok=True)
        for name, text in self._scripts.items():
            here = text.replace("/etc/valkey/", f"{folder}/").replace("/data", str(folder))
            (folder / name).write_text(here)
        return folder / Path(path).name

    def _environment(self, pod: str, container: str) -> dict[str, str]:
        made = {"PATH": f"{self._folder}:/usr/bin:/bin", "REDISCLI_AUTH": PASSWORD, "POD": pod.partition(".")[0]}
        for variable in self._containers[container]["env"]:
            if "value" in variable:
                value = variable["value"].replace("$(POD)", made["POD"])
                made[variable["name"]] = " ".join(self.addresses[word] for word in value.split(" "))
        return made


async def test_a_dead_primary_is_replaced_and_comes_back_as_a_replica_and_a_leaving_one_hands_over(
    system_tool: Callable[[str], Path], tmp_path: Path
) -> None:
    pods = Pods(rendered("production", system_tool("kubectl")), tmp_path)
    first = next(iter(pods.addresses))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(pods.stop)
        for pod in pods.addresses:
            await pods.start(pod, "server")
            await pods.start(pod, "sentinel")
        assert await pods.primary() == first
        redis = await stack.enter_async_context(connections(pods.url, most=2, wait_seconds=5))
        await redis.set("kept", "through both")
        assert await redis.wait(2, 5000) == 2

        await pods.kill(first)
        async with asyncio.timeout(SETTLED_WITHIN_SECONDS):
            while True:
                try:
                    await redis.set("after", "the first")
                    break
                except (RedisError, OSError):
                    await asyncio.sleep(0.2)
        await pods.start(first, "server")
        second = await pods.primary()
        assert second != first

        await pods.leave(second)
        third = await pods.primary()
        assert third != second
        assert await redis.get("kept") == b"through both"
        assert await redis.get("after") == b"the first"
