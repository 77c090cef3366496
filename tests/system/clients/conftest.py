"""A horde with a scripted worker, and environments in which the clients of users are installed."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from horde.cli.admin import create_account
from horde.contract.vocabulary import chat_policy
from tests.system.clients.environments import NotInstalled, node_clients, python_clients
from tests.system.clients.scripted import scripted_reply
from tests.system.services import SECRET, Services
from tests.system.volunteer import Volunteer

MODEL = "test/Clients-7B"
_HERE = Path(__file__).parent
_CLIENT_SECONDS = 150

type Run = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Scripted:
    """What a client needs to know, and the worker that answers it."""

    base_url: str
    api_key: str
    moderator_key: str
    worker: Volunteer


@pytest.fixture(scope="session")
def scripted(services: Services) -> Iterator[Scripted]:
    """A running horde with one worker that can do everything."""
    features = {*chat_policy.ChatFeature, *chat_policy.ChatGuarantee} - {chat_policy.ChatFeature.VISION}
    worker = Volunteer(
        services.url,
        services.account("clients_owner").api_key,
        name="scripted worker",
        model=MODEL,
        features=frozenset(features),
        reply=scripted_reply,
    )
    with worker:
        moderator = asyncio.run(create_account(services.database_url, SECRET, "clients_moderator", moderator=True))
        yield Scripted(f"{services.url}/v1", services.account("clients_user").api_key, moderator.api_key, worker)


@pytest.fixture(scope="session")
def in_python(scripted: Scripted) -> Run:
    """Runs one program of `python/` in the environment of the clients; gives what it found."""
    python = _installed(python_clients)
    return lambda name: _found([str(python), "-I", str(_HERE / "python" / f"{name}.py")], _HERE, scripted)


@pytest.fixture(scope="session")
def in_node(scripted: Scripted) -> Run:
    """Runs one program of `node/` beside its packages; gives what it found."""
    folder = _installed(node_clients)
    return lambda name: _found(["node", f"{name}.mjs"], folder, scripted)


def _installed(install: Callable[[], Path]) -> Path:
    """As with every tool of the system: without it the tests are skipped, and fail where CI must have it."""
    try:
        return install()
    except NotInstalled as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


def _found(command: list[str], folder: Path, scripted: Scripted) -> dict[str, Any]:
    kept = {name: value for name, value in os.environ.items() if "PROXY" not in name.upper()}
    keys = {"API_KEY": scripted.api_key, "MODERATOR_KEY": scripted.moderator_key}
    told = {"BASE_URL": scripted.base_url, "MODEL": MODEL, **keys}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, **told, "OPENAI_API_KEY": scripted.api_key},
        capture_output=True,
        text=True,
        timeout=_CLIENT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    # not `splitlines`: what the worker says holds a line separator of Unicode, which JavaScript prints as it is
    found: dict[str, Any] = json.loads(done.stdout.strip().split("\n")[-1])
    return found
