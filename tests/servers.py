"""Real Postgres, Valkey and S3 for one test session, each started when the first test asks for it.

They are the launchers of `horde up`, run on an event loop in a thread of their own, so that a test's loop can come
and go. Nothing here asserts.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from horde.cli.stack.buckets import client, make_ready
from horde.cli.stack.data_folder import opened
from horde.cli.stack.postgres import Postgres
from horde.cli.stack.processes import Processes
from horde.cli.stack.seaweed import Keys, Seaweed
from horde.cli.stack.valkey import Valkey
from horde.settings import PostgresSettings
from horde.store import Store

SYSTEM_FOLDERS = "/usr/sbin:/sbin"
"""Where a system keeps programs for its administrators; not everybody's PATH names them."""

PASSWORD = "for-tests"
ROLES = ("horde_admission", "horde_dispatch", "horde_moderation")
TEMPLATE = "horde_template"
REGION = "auto"


@dataclass(frozen=True)
class Database:
    """One freshly migrated database of a test's own."""

    url: str
    """The owner's login, which sees every schema."""

    def url_for(self, role: str) -> str:
        """The login of one service, `horde_dispatch` for example."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=f"{role}:{PASSWORD}@{parts.hostname}:{parts.port}"))

    @contextlib.asynccontextmanager
    async def store(self, role: str, *, pool_size: int = 4) -> AsyncIterator[Store]:
        """A store as one service has it: `async with database.store("horde_dispatch") as store`."""
        settings = PostgresSettings(database_url=self.url_for(role), database_pool_size=pool_size)
        async with Store.open(settings, application_name=f"test-{role}") as store:
            yield store


@dataclass(frozen=True)
class ObjectStore:
    """The S3 server and the keys that may do everything on it."""

    endpoint: str
    access_key: str
    secret_key: str
    region: str = REGION

    def bucket(self, purpose: str = "test") -> str:
        """The name of a new, empty bucket."""
        name = f"{purpose}-{secrets.token_hex(6)}"
        make_ready(client(self.endpoint, self.access_key, self.secret_key, self.region), [name])
        return name


class Restartable:
    """A server of one test's own, to be killed and started again on the same port."""

    def __init__(self, servers: "Servers", server: Postgres | Valkey, processes: Processes) -> None:
        self._servers = servers
        self._server = server
        self._processes = processes

    @property
    def url(self) -> str:
        """Where it listens; the same after a restart."""
        return self._server.url() if isinstance(self._server, Postgres) else self._server.url

    def start(self) -> None:
        """Start it, again or for the first time; returns when it answers."""
        self._servers.wait_for(self._server.start())

    def kill(self) -> None:
        """End it without warning; returns when it is gone."""
        self._servers.wait_for(self._kill())

    def stop(self) -> None:
        """End it in good order."""
        self._servers.wait_for(self._processes.stop(self._server.name))

    async def _kill(self) -> None:
        process = self._processes.running(self._server.name)
        process.is_stopping = True
        # Postgres' children have sessions of their own and serve on until they notice
        children = _children(process.pid)
        process.signal(signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        await self._processes.stop(self._server.name)


def _children(parent: int) -> list[int]:
    """Processes whose parent this one is."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.parent.name))
    return found


class Servers:
    """The servers of the session. `close` ends them all."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._folder = self._stack.enter_context(opened(None, notice=print))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-servers", daemon=True)
        self._thread.start()
        self._processes = Processes(self._folder.logs, inherited=[self._folder.children.fileno()])
        self._started: dict[str, Future[Any]] = {}
        self._owned: list[tuple[Postgres | Valkey, Processes]] = []
        keep = self._folder.secrets
        self._postgres = Postgres(
            self._folder.path / "postgres", self._processes, password=keep.owner_password, durable=False
        )
        self._valkey = Valkey(
            self._folder.path / "valkey", self._processes, password=keep.redis_password, durable=False
        )
        self._keys = Keys("horde", keep.s3_access_key, keep.s3_secret_key)
        self._seaweed = Seaweed(self._folder.path / "s3", self._processes, keys=[self._keys])
        self._starts: Mapping[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "database": self._start_postgres,
            "redis_url": self._valkey.start,
            "s3": self._seaweed.start,
        }

    def begin(self, fixture: str) -> None:
        """Start what this fixture needs, without waiting; nothing when it runs already."""
        if fixture in self._starts and fixture not in self._started:
            self._started[fixture] = asyncio.run_coroutine_threadsafe(self._starts[fixture](), self._loop)

    def wait_for[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the servers' loop and wait for the outcome."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def new_database(self) -> Database:
        """A copy of the migrated template: tens of milliseconds."""
        self._ready("database")
        name = f"test_{secrets.token_hex(6)}"
        self.wait_for(self._administer(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy"))
        return Database(self._postgres.url(name))

    def drop(self, database: Database) -> None:
        """Remove a test's database, whoever is still connected. Does not wait."""
        name = urlsplit(database.url).path.removeprefix("/")
        asyncio.run_coroutine_threadsafe(self._administer(f"DROP DATABASE {name} WITH (FORCE)"), self._loop)

    def empty_database(self) -> Database:
        """A database without any schema, for tests of the migrations."""
        self._ready("database")
        name = f"test_{secrets.token_hex(6)}"
        self.wait_for(self._administer(f"CREATE DATABASE {name} TEMPLATE template0"))
        return Database(self._postgres.url(name))

    def redis_url(self) -> str:
        """The address of the Valkey that tests share."""
        self._ready("redis_url")
        return self._valkey.url

    def object_store(self) -> ObjectStore:
        """The S3 server that tests share."""
        self._ready("s3")
        return ObjectStore(self._seaweed.endpoint, self._keys.access, self._keys.secret)

    def log(self, server: str) -> str:
        """What a shared server (`postgres`) has written so far."""
        return (self._folder.logs / f"{server}.log").read_text(errors="replace")

    def own_postgres(self, folder: str) -> Restartable:
        """A Postgres of one test's own, not started; without any schema."""
        processes = Processes(self._folder.logs, inherited=[self._folder.children.fileno()])
        server = Postgres(self._own(folder), processes, password=PASSWORD, durable=False)
        self._owned.append((server, processes))
        return Restartable(self, server, processes)

    def own_valkey(self, folder: str) -> Restartable:
        """A Valkey of one test's own, not started; it writes its append-only file."""
        processes = Processes(self._folder.logs, inherited=[self._folder.children.fileno()])
        server = Valkey(self._own(folder), processes, password=PASSWORD, durable=True)
        self._owned.append((server, processes))
        return Restartable(self, server, processes)

    def close(self) -> None:
        """End every server and remove their folder."""
        for start in self._started.values():
            with contextlib.suppress(Exception):
                start.result()
        for server, processes in [*self._owned, (self._postgres, self._processes)]:
            self.wait_for(processes.stop_all())
            if isinstance(server, Postgres):
                server.remove_sockets()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._stack.close()

    def _own(self, folder: str) -> Path:
        path = self._folder.path / folder
        path.mkdir(mode=0o711, exist_ok=True)
        return path / "data"

    def _ready(self, fixture: str) -> None:
        self.begin(fixture)
        try:
            self._started[fixture].result()
        except Exception as failure:  # noqa: BLE001 - a second start tells a bad moment from a bad machine
            sys.stderr.write(f"{fixture} did not start, once more: {failure!r}\n")
            del self._started[fixture]
            self.begin(fixture)
            self._started[fixture].result()

    async def _start_postgres(self) -> None:
        from horde.store.migrate import set_logins, upgrade  # brings alembic, which tests without a database spare

        await self._postgres.start()
        await self._administer(f"CREATE DATABASE {TEMPLATE}")
        await asyncio.to_thread(upgrade, self._postgres.url(TEMPLATE))
        await asyncio.to_thread(set_logins, self._postgres.url(TEMPLATE), dict.fromkeys(ROLES, PASSWORD))

    async def _administer(self, statement: str) -> None:
        connection = await asyncpg.connect(self._postgres.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()
