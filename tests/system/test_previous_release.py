"""The last release serves on the schema of this tree, is replaced service by service, and its data is kept."""

import asyncio
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import asyncpg
import httpx
import pytest

from horde.cli.stack.environment import SERVICES
from horde.store import migrate as migrations
from tests.releases import RELEASES, is_shallow
from tests.servers import Database, Servers
from tests.system.services import SECRET, Services
from tests.system.text_worker import TextWorker
from tests.system.volunteer import Volunteer

ROOT = Path(__file__).parents[2]
NEWEST = RELEASES[-1]
CREATE = ("admin", "user", "create", "--kudos", "1000", "--trusted", "--json")


@pytest.fixture
def release(system_tool: Callable[[str], Path], tmp_path: Path) -> Path:
    """The tree of the last release. Skipped where the history is not at hand; with CI set that is a failure."""
    git = system_tool("git")
    packed = subprocess.run([git, "-C", ROOT, "archive", NEWEST["commit"]], capture_output=True, check=False)
    if packed.returncode != 0:
        missing = f"commit {NEWEST['commit']} of the last release is not in this clone's history"
        if os.environ.get("CI") and not is_shallow([git, "-C", ROOT]):
            pytest.fail(missing)
        pytest.skip(missing)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
        tree.extractall(tmp_path, filter="data")
    return tmp_path


def run_old(release: Path, services: Services, *words: str) -> str:
    """What a command of the release prints."""
    environment = {**os.environ, "HORDE_DATABASE_URL": services.database_url, "HORDE_SECRET_KEY": SECRET}
    done = subprocess.run(
        [sys.executable, "-m", "horde", *words],
        cwd=release,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def smoke(services: Services, client: str, owner: str, name: str) -> None:
    """A streamed chat and a text are asked for, worked on, paid and read."""
    key = {"apikey": client}
    with httpx.Client(base_url=f"{services.url}/api/v2", headers=key, timeout=60) as http:
        before = http.get("/find_user").json()["kudos"]
        with Volunteer(services.url, owner, name=name, model=f"test/{name}"):
            words = [{"role": "user", "content": f"Hello from {name}"}]
            with httpx.Client(
                base_url=services.url, headers={"Authorization": f"Bearer {client}"}, timeout=60
            ) as front:
                body = {"model": f"test/{name}", "messages": words, "stream": True}
                said = front.post("/v1/chat/completions", json=body).raise_for_status().text
        assert f"Hello from {name}"[:5] in said
        assert "data: [DONE]" in said
        with TextWorker(services.url, owner, name=f"{name} of texts", model=f"text/{name}"):
            ask = {"prompt": "Once upon a time", "models": [f"text/{name}"]}
            queued = http.post("/generate/text/async", json=ask).raise_for_status().json()["id"]
            while not (status := http.get(f"/generate/text/status/{queued}", params={"wait_seconds": 5}).json())[
                "done"
            ]:
                pass
        assert "the end." in status["generations"][0]["text"]
        assert http.get("/find_user").json()["kudos"] < before
    assert services.ledger_faults() == []


def on_database(services: Services, *statements: str) -> None:
    async def write() -> None:
        connection = await asyncpg.connect(services.database_url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(write())


def stand_at(services: Services, revision: str) -> None:
    on_database(services, f"UPDATE public.horde_schema_version SET version_num = '{revision}'")  # noqa: S608 - our words


@pytest.mark.slow
def test_the_last_release_works_on_the_new_schema_and_is_replaced_service_by_service(
    release: Path, unstarted_services: Callable[..., Services]
) -> None:
    services = unstarted_services()
    if not (release / "horde" / "store" / "sql" / "schema_floor.sql").exists():
        # That release wants exactly its own schema. Shown as that, the tables, views and functions are still ours.
        with pytest.raises(RuntimeError, match="the database is newer than this code"):
            services.start("admission", code=release)
        stand_at(services, NEWEST["schema"])
    services.start(*SERVICES, code=release)
    made = [json.loads(run_old(release, services, *CREATE, name)) for name in ("asks", "works")]
    client, owner = (account["api_key"] for account in made)
    smoke(services, client, owner, "old")
    assert json.loads(run_old(release, services, "admin", "ledger", "check", "--json"))["findings"] == []
    stand_at(services, newest())
    for service in ("admission", "dispatch"):
        services.end(service)
        services.start(service)
    smoke(services, client, owner, "mixed")
    # callers before those they call, which is the harder order
    for service in ("gateway", "progress", "moderation", "media"):
        services.end(service)
        services.start(service)
        smoke(services, client, owner, f"new {service}")


def newest() -> str:
    from horde.store import versions

    return versions.known()[-1]


@pytest.mark.slow
def test_data_of_the_last_release_is_served_after_the_upgrade(
    release: Path, servers: Servers, empty_database: Database, tmp_path: Path
) -> None:
    run = tmp_path / "run of services"
    run.mkdir()
    services = Services(run, empty_database, servers.redis_url(), servers.object_store(), {})
    try:
        run_old(release, services, "migrate")
        services.start(*SERVICES, code=release)
        made = [json.loads(run_old(release, services, *CREATE, name)) for name in ("asks", "works")]
        client, owner = (account["api_key"] for account in made)
        smoke(services, client, owner, "old")
        with httpx.Client(base_url=f"{services.url}/api/v2", headers={"apikey": client}, timeout=60) as http:
            before = http.get("/find_user").json()
            ask = {"prompt": "Once upon a time", "models": ["text/kept"]}
            waiting = http.post("/generate/text/async", json=ask).raise_for_status().json()["id"]
        services.stop()

        migrations.upgrade(empty_database.url)
        services.start(*SERVICES)
        with httpx.Client(base_url=f"{services.url}/api/v2", headers={"apikey": client}, timeout=60) as http:
            after = http.get("/find_user").json()
            assert (after["id"], after["username"]) == (before["id"], before["username"])
            with TextWorker(services.url, owner, name="old of texts", model="text/kept"):
                while not (status := http.get(f"/generate/text/status/{waiting}?wait_seconds=5").json())["done"]:
                    pass
        assert "the end." in status["generations"][0]["text"]
        smoke(services, client, owner, "new")
    finally:
        services.stop()


LATER = (
    "ALTER TABLE dispatch.waiting_prompts ADD COLUMN later integer",
    "ALTER TABLE dispatch.processing_gens ADD COLUMN later text NOT NULL DEFAULT ''",
    "ALTER TABLE admission.users ADD COLUMN later timestamptz",
    "CREATE TABLE moderation.later (id bigint PRIMARY KEY)",
    "CREATE FUNCTION dispatch.enqueue_v99(p_request uuid) RETURNS void LANGUAGE sql AS 'SELECT'",
)


@pytest.mark.slow
def test_this_code_starts_and_works_on_a_schema_that_a_later_release_has_expanded(
    unstarted_services: Callable[..., Services],
) -> None:
    services = unstarted_services()
    on_database(services, *LATER)
    stand_at(services, "9999")
    services.start(*SERVICES)
    client, owner = services.account("asks later"), services.account("works later")
    smoke(services, client.api_key, owner.api_key, "later")
