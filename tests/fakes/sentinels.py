"""A primary, a replica and three Sentinels that watch over them, for one test."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import Launch, Processes
from horde.cli.stack.valkey import server_program

NAME = "horde"
_PASSWORD = "of-the-servers"
_READY_SECONDS = 30.0


class Group:
    """Two servers and who decides which of them is the primary."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes = Processes(folder)
        self.first, self.second, *self._sentinels = free_ports(5)

    @property
    def url(self) -> str:
        """What a service is given."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._sentinels)
        return f"redis+sentinel://:{_PASSWORD}@{hosts}/{NAME}"

    async def start(self) -> None:
        """All five, until the Sentinels know each other and the replica."""
        secret = [f'requirepass "{_PASSWORD}"', f'primaryauth "{_PASSWORD}"', 'save ""', "repl-diskless-sync-delay 0"]
        await self._begin(self.first, secret)
        await self._begin(self.second, [*secret, f"replicaof 127.0.0.1 {self.first}"])
        watch = [
            f"sentinel monitor {NAME} 127.0.0.1 {self.first} 2",
            f"sentinel auth-pass {NAME} {_PASSWORD}",
            f"sentinel down-after-milliseconds {NAME} 300",
            f"sentinel failover-timeout {NAME} 2000",
        ]
        for port in self._sentinels:
            await self._begin(port, watch, "--sentinel")
        await self._until(lambda state: (state["num-slaves"], state["num-other-sentinels"]) == (1, 2))

    async def kill_primary(self) -> None:
        """The first server is gone without a word."""
        process = self._processes.running(f"valkey-{self.first}")
        process.is_stopping = True
        process.handle.kill()
        await process.handle.wait()

    async def failed_over(self) -> None:
        """Every Sentinel says that the second server is the primary."""
        await self._until(lambda state: state["port"] == self.second)

    async def stop(self) -> None:
        """End them all."""
        await self._processes.stop_all()

    async def _begin(self, port: int, lines: Sequence[str], *flags: str) -> None:
        folder = self._folder / str(port)
        folder.mkdir()
        settings = folder / "valkey.conf"
        settings.write_text("\n".join(["bind 127.0.0.1", f"port {port}", f'dir "{folder}"', *lines]))
        command: list[str | Path] = [server_program(), settings, *flags]
        process = await self._processes.start(
            Launch(name=f"valkey-{port}", command=command, env=dict(os.environ), cwd=folder)
        )

        async def answers() -> bool:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True

        await process.until(answers, _READY_SECONDS)

    async def _until(self, holds: Any) -> None:
        """Wait until every Sentinel sees the primary so."""
        async with asyncio.timeout(_READY_SECONDS):
            for port in self._sentinels:
                async with Redis(host="127.0.0.1", port=port) as sentinel:
                    asked: Any = sentinel  # its own types do not know what a Sentinel answers
                    while not holds((await asked.sentinel_masters())[NAME]):  # noqa: ASYNC110 - it tells nobody
                        await asyncio.sleep(0.05)


@asynccontextmanager
async def sentinels(folder: Path) -> AsyncIterator[Group]:
    """The group while the block runs."""
    group = Group(folder)
    try:
        await group.start()
        yield group
    finally:
        await group.stop()
