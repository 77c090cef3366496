"""Moderators at work on the running system: with horde-sdk unmodified, and over plain HTTP."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import httpx

from horde.cli.admin import create_account
from tests.system.services import SECRET, Services


def on_database(services: Services, statement: str, *args: Any) -> Any:
    """Runs one statement as the owner of the database."""

    async def run() -> Any:
        connection = await asyncpg.connect(services.database_url)
        try:
            return await connection.fetchval(statement, *args)
        finally:
            await connection.close()

    return asyncio.run(run())


def moderator(services: Services) -> str:
    """A moderator's key."""
    return asyncio.run(create_account(services.database_url, SECRET, "reviewer", moderator=True)).api_key


def run_sdk(services: Services, *args: str) -> "subprocess.CompletedProcess[str]":
    """horde-sdk in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).with_name("sdk_review_client.py")), *args],
        env={**os.environ, "AI_HORDE_URL": f"{services.url}/api/"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def test_horde_sdks_typed_requests_work_unmodified(services: Services) -> None:
    key = moderator(services)
    owner = services.account("suspect", trusted=False)
    event = on_database(
        services,
        "INSERT INTO moderation.moderation_events (user_id, reason, outcome, submitted_prompt, text_sha256, text_chars)"
        " VALUES ($1, 'model_rejection', 'rejected', 'a prompt', repeat('0', 64), 8) RETURNING id",
        owner.id,
    )
    worker = uuid4()
    on_database(
        services,
        "INSERT INTO dispatch.workers (id, user_id, name, paused) VALUES ($1, $2, 'paused volunteer', true)",
        worker,
        owner.id,
    )
    on_database(services, "INSERT INTO dispatch.worker_suspicions (worker_id, suspicion_id) VALUES ($1, 5)", worker)
    on_database(
        services,
        "INSERT INTO moderation.worker_suspicion_events (worker_id, worker_name, user_id, suspicion_id, detail)"
        " VALUES ($1, 'paused volunteer', $2, 5, 'too fast')",
        worker,
        owner.id,
    )
    ended = run_sdk(services, key, str(event))
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    assert (told["note"], told["event"], told["hold"]) == ("seen by the SDK", event, "note")
    assert (told["ceiling"], told["total"], told["threshold"]) == (365, 1, 5)
    assert told["paused"] == [["paused volunteer", owner.username, 1]]
    assert ["paused volunteer", "UNREASONABLY_FAST"] in told["history"]
    assert told["missing"] == "ModerationEventNotFound"
    assert len(told["reviewers"]) == 1


def test_the_privacy_document_and_the_listing_tell_the_same_policy(services: Services) -> None:
    with httpx.Client(base_url=f"{services.url}/api/v2", headers={"apikey": moderator(services)}, timeout=30) as http:
        listed = http.get("/operations/moderation/prompts?limit=1").json()["retention"]
        written = http.get("/documents/privacy?format=markdown").json()["markdown"]
        preview = http.get("/operations/moderation/retention/preview?text_days=90")
        wrong = http.get("/operations/moderation/retention/preview?ceiling_days=366")
    assert listed == {"text_days": None, "ipaddr_days": 30, "ceiling_days": 365}
    assert "texts: kept with the record" in written
    assert "addresses: 30 days" in written
    assert "at most 365 days" in written
    assert preview.status_code == 200
    assert preview.json()["retention"]["text_days"] == 90
    assert (wrong.status_code, wrong.json()["rc"]) == (400, "BadRequest")


def test_an_account_lives_from_its_first_kudos_to_its_deletion(services: Services) -> None:
    giver, taker = services.account("giver", kudos=1000), services.account("taker", kudos=100)
    with httpx.Client(base_url=f"{services.url}/v2", timeout=30) as http:
        mine, theirs = {"apikey": giver.api_key}, {"apikey": taker.api_key}
        gift = {"username": taker.username, "amount": 12.5}
        for _ in range(2):
            answer = http.post("/kudos/transfer", json=gift, headers={**mine, "Idempotency-Key": "once"})
            assert answer.json() == {"transferred": 12.5}
        assert http.get(f"/users/{taker.id}").json()["kudos"] == 112.5
        key = http.put("/sharedkeys", json={"name": "friends", "kudos": 50}, headers=mine).json()
        assert (
            http.get("/find_user", headers={"apikey": key["id"]}).json()["username"].endswith("(Shared Key: friends)")
        )
        for bearer, status in ((key["id"], 200), (str(uuid4()), 401)):
            listed = http.get(f"{services.url}/v1/models", headers={"Authorization": f"Bearer {bearer}"})
            assert listed.status_code == status
        assert http.patch(f"/sharedkeys/{key['id']}", json={"kudos": 5}, headers=theirs).status_code == 403
        assert http.delete(f"/sharedkeys/{key['id']}", headers=mine).json() == {"message": "OK"}
        assert http.put(f"/users/{taker.id}", json={"public_workers": True}, headers=theirs).json() == {
            "public_workers": True
        }
        assert http.delete(f"/users/{taker.id}", headers=theirs).status_code == 200
        assert http.get(f"/users/{taker.id}").json()["deleted"] is True
        assert http.get(f"/users/{giver.id}/usage", headers=mine).json()["usage"] == []
    assert services.ledger_faults() == []
