"""What dispatch finds out about workers reaches moderation, and what people tell workers reaches their pops."""

import asyncio
import time
from typing import Any

import asyncpg
import httpx

from tests.system.services import Services

MODEL = "test/Reported-7B"


def _pop(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "models": [MODEL],
        "max_length": 64,
        "max_context_length": 4096,
        "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
        "chat_jobs": True,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": 4096, "max_length": 64},
        "chat_features": ["prompt_overflow_refused"],
    }


def test_a_suspicion_and_a_reply_reported_as_csam_are_written_down_by_moderation(services: Services) -> None:
    owner, client = services.account("reported_owner"), services.account("reported_client")
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60) as http:
        worker, asking = {"apikey": owner.api_key}, {"apikey": client.api_key}
        long_name = "reported " + "x" * 100
        assert http.post("/generate/text/pop", json=_pop(long_name), headers=worker).status_code == 200
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}
        queued = http.post("/generate/chat/async", json=body, headers=asking).json()["id"]
        job = http.post("/generate/text/pop", json=_pop(long_name), headers=worker).json()["id"]
        message = {"role": "assistant", "content": "What nobody should see."}
        reply = {"id": job, "message": message, "finish_reason": "stop", "model_id": MODEL, "state": "csam"}
        assert http.post("/generate/text/submit", json=reply, headers=worker).status_code == 200
        (shown,) = http.get(f"/generate/chat/status/{queued}").json()["generations"]
        assert shown["state"] == "csam"

    suspicion = _row(services, "worker_suspicion_events", "user_id = $1", owner.id)
    assert (suspicion["worker_name"], suspicion["suspicion_id"]) == (long_name[:100], 0)
    event = _row(services, "moderation_events", "reason = 'worker_csam' AND user_id = $1", client.id)
    assert (str(event["job_id"]), str(event["request_id"])) == (job, queued)
    assert str(_row(services, "user_problem_jobs", "user_id = $1", client.id)["job_id"]) == job


def test_a_message_of_an_owner_is_told_at_its_workers_next_pop(services: Services) -> None:
    owner = services.account("telling_owner")
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60, headers={"apikey": owner.api_key}) as http:
        assert http.post("/generate/text/pop", json=_pop("told worker")).json()["messages"] == []
        told = {"worker_id": http.get("/workers/name/told worker").json()["id"], "message": "Update, please."}
        made = http.post("/workers/messages", json=told).json()
        (heard,) = http.post("/generate/text/pop", json=_pop("told worker")).json()["messages"]
        assert (heard["id"], heard["message"], heard["origin"]) == (made["id"], "Update, please.", owner.username)
        assert heard["expiry"].endswith("-0000")
        assert http.get(f"/workers/messages/{made['id']}").json() == {**made, "expiry": 12}
        assert [one["id"] for one in http.get("/workers/messages").json()] == [made["id"]]
        assert http.delete(f"/workers/messages/{made['id']}").json() == {"message": "OK"}
        assert http.post("/generate/text/pop", json=_pop("told worker")).json()["messages"] == []


def _row(services: Services, table: str, condition: str, *args: object) -> dict[str, Any]:
    """The one row of moderation's, as soon as it is there."""

    async def read() -> dict[str, Any]:
        connection = await asyncpg.connect(services.database_url)
        try:
            ends_at = time.monotonic() + 60
            while True:
                statement = f"SELECT * FROM moderation.{table} WHERE {condition}"  # noqa: S608 - a test's own words
                rows = await connection.fetch(statement, *args)
                if rows:
                    (row,) = rows
                    return dict(row)
                assert time.monotonic() < ends_at, f"nothing in {table}"
                await asyncio.sleep(0.2)
        finally:
            await connection.close()

    return asyncio.run(read())
