"""Stores that are gone, at the start or later: one clear message where it ends, a repeatable error where it goes on."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import httpx
import pytest

from horde.cli.stack.ports import free_ports
from horde.store.migrate import set_logins, upgrade
from tests.servers import PASSWORD, ROLES, Database, ObjectStore, Restartable
from tests.system.services import SECRET, Services

MODEL = "test/Weather-7B"
POP = {
    "name": "weather worker",
    "models": [MODEL],
    "chat_jobs": True,
    "model_id": MODEL,
    "chat_limits": {"max_context_length": 4096, "max_length": 512},
    "chat_features": ["prompt_overflow_refused"],
}
CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Will it rain?"}], "stream": True}
REPLY = {"model_id": MODEL, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}


@pytest.fixture
def own_stores(
    restartable_postgres: Restartable, restartable_redis: Restartable, s3: ObjectStore, tmp_path: Path
) -> Iterator[Services]:
    upgrade(restartable_postgres.url)
    set_logins(restartable_postgres.url, dict.fromkeys(ROLES, PASSWORD))
    services = Services(tmp_path, Database(restartable_postgres.url), restartable_redis.url, s3, {})
    services.start("admission", "dispatch", "progress", "media", "moderation", "gateway")
    yield services
    services.stop()


def served(name: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start one service that cannot start; what it said."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HORDE_")}
    command = [sys.executable, "-m", "horde", "serve", name]
    return subprocess.run(command, env={**kept, **settings}, capture_output=True, text=True, timeout=60, check=False)


def test_without_postgres_calls_answer_503_and_go_on_when_it_is_back(
    own_stores: Services, restartable_postgres: Restartable
) -> None:
    client = own_stores.account("rain_client")
    with httpx.Client(base_url=f"{own_stores.url}/api/v2", timeout=30, headers={"apikey": client.api_key}) as http:
        assert http.post("/generate/text/pop", json=POP).status_code == 200
        restartable_postgres.kill()
        for answer in (
            http.post("/generate/text/pop", json=POP),
            http.post("/generate/chat/async", json=CHAT),
            http.get("/generate/chat/status/00000000-0000-0000-0000-000000000000"),
        ):
            assert answer.status_code == 503
            assert answer.json()["message"]
            assert "retry-after" in answer.headers
        restartable_postgres.start()
        accepted = http.post("/generate/chat/async", json=CHAT)
        accepted = accepted if accepted.status_code == 202 else http.post("/generate/chat/async", json=CHAT)
        assert accepted.status_code == 202
        assert http.post("/generate/text/pop", json=POP).json()["id"] is not None


def test_without_redis_a_streamed_request_is_still_served_and_paid(
    own_stores: Services, restartable_redis: Restartable
) -> None:
    client = own_stores.account("wind_client")
    with httpx.Client(base_url=f"{own_stores.url}/api/v2", timeout=30, headers={"apikey": client.api_key}) as http:
        http.post("/generate/text/pop", json=POP).raise_for_status()
        restartable_redis.kill()
        accepted = http.post("/generate/chat/async", json=CHAT)
        assert accepted.status_code == 202, accepted.text
        job = http.post("/generate/text/pop", json=POP).json()
        assert job["payload"]["stream_progress"] is True
        posted = http.post("/generate/text/progress", json={"id": job["id"], "seq": 1, "delta": {"content": "N"}})
        assert (posted.status_code, posted.json()["rc"]) == (503, "ChatProgressUnavailable")
        assert http.post("/generate/text/submit", json={"id": job["id"], **REPLY}).json()["reward"] > 0
        status = http.get(f"/generate/chat/status/{accepted.json()['id']}").json()
        assert status["done"]
        assert status["generations"][0]["message"]["content"] == "No."
    assert own_stores.ledger_faults() == []


def test_a_service_that_finds_no_postgres_says_so_in_one_line() -> None:
    (port,) = free_ports(1)
    url = f"postgresql://horde:x@127.0.0.1:{port}/horde"
    said = served("moderation", HORDE_DATABASE_URL=url, HORDE_REDIS_URL="redis://127.0.0.1:1", HORDE_SECRET_KEY=SECRET)
    assert said.returncode == 2
    assert f"127.0.0.1:{port}" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    ("is_ahead", "advice"),
    [pytest.param(False, "horde migrate", id="behind"), pytest.param(True, "newer", id="ahead")],
)
def test_a_service_and_a_database_of_different_ages_say_what_to_do(
    empty_database: Database, redis_url: str, is_ahead: bool, advice: str
) -> None:
    if is_ahead:
        upgrade(empty_database.url)
        asyncio.run(_claim_a_later_version(empty_database.url))
    said = served("dispatch", HORDE_DATABASE_URL=empty_database.url, HORDE_REDIS_URL=redis_url, HORDE_SECRET_KEY=SECRET)
    assert said.returncode == 2, said.stderr
    assert advice in said.stderr
    assert "Traceback" not in said.stderr


def test_every_bad_setting_is_named_in_one_message() -> None:
    said = served("gateway", HORDE_RATE_LIMITS_ENABLED="perhaps", HORDE_GATEWAY_LISTEN="nowhere")
    assert said.returncode == 2
    assert "HORDE_RATE_LIMITS_ENABLED" in said.stderr
    assert "HORDE_GATEWAY_LISTEN" in said.stderr
    assert "Traceback" not in said.stderr


async def _claim_a_later_version(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("UPDATE public.horde_schema_version SET version_num = '9999'")
    await connection.execute("UPDATE public.horde_schema_floor SET version_num = '9999'")
    await connection.close()
