"""What every kind of test may use: real servers, a tool of the system, and last lines that say what was skipped."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from tests.servers import SYSTEM_FOLDERS, Database, ObjectStore, Restartable, Servers

# read by gRPC when it is loaded: tests close many connections, and each would be a line
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

SERVERS = pytest.StashKey[Servers]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start every server that a collected test needs, side by side, while the first tests run already."""
    needed = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    if session.config.option.collectonly or not needed & {"servers"}:
        return
    session.config.stash[SERVERS] = Servers()
    for name in sorted(needed):
        session.config.stash[SERVERS].begin(name)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers, also after a failed collection or Ctrl-C."""
    if (servers := config.stash.get(SERVERS, None)) is not None:
        servers.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped and why, as the last thing before the count."""
    skipped = terminalreporter.getreports("skipped")
    if skipped:
        terminalreporter.section("skipped, and why")
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.line(f"{report.nodeid}: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Servers:
    """The servers of this run; each starts at its first use."""
    return pytestconfig.stash[SERVERS]


@pytest.fixture
def database(servers: Servers) -> Iterator[Database]:
    """A migrated database of this test's own: `.url`, `.url_for(role)`, `async with .store(role)`."""
    made = servers.new_database()
    yield made
    servers.drop(made)


@pytest.fixture
def empty_database(servers: Servers) -> Iterator[Database]:
    """A database without any schema, for tests of the migrations."""
    made = servers.empty_database()
    yield made
    servers.drop(made)


@pytest.fixture
def redis_url(servers: Servers) -> str:
    """The address of an empty Valkey."""
    url = servers.redis_url()
    with redis.Redis.from_url(url) as client:
        client.flushall()
        client.script_flush()
    return url


@pytest.fixture
def s3(servers: Servers) -> ObjectStore:
    """The S3 server: `.endpoint`, keys, and `.bucket(purpose)` for the name of a new bucket."""
    return servers.object_store()


@pytest.fixture
def restartable_postgres(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Restartable]:
    """A running Postgres of this test's own, without any schema: `.url`, `.kill()`, `.stop()`, `.start()`."""
    server = servers.own_postgres(f"postgres-{abs(hash(request.node.nodeid))}")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def restartable_redis(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Restartable]:
    """A running Valkey of this test's own: `.url`, `.kill()`, `.stop()`, `.start()`."""
    server = servers.own_valkey(f"valkey-{abs(hash(request.node.nodeid))}")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def system_tool() -> Callable[[str], Path]:
    """Find a program of the system, or skip the test; with CI set a missing program is a failure."""

    def find(name: str) -> Path:
        found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")
        if found is not None:
            return Path(found)
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed, and CI must have it")
        pytest.skip(f"{name} is not installed on this machine")

    return find
