"""Waiting instead of polling, through the whole system; and a worker's details on the way."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

from tests.system.services import Services

POP = {
    "name": "patient worker",
    "models": ["test/Patient-7B"],
    "max_length": 512,
    "max_context_length": 4096,
    "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
    "chat_jobs": True,
    "model_id": "test/Patient-7B",
    "chat_limits": {"max_context_length": 4096, "max_length": 512},
    "chat_features": ["prompt_overflow_refused"],
}
CHAT = {"model": "test/Patient-7B", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 32}


def test_an_idle_waiting_worker_gets_a_job_at_once_and_a_waiting_client_its_reply(services: Services) -> None:
    owner, client = services.account("patient_owner"), services.account("patient_client")
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60) as http:
        worker, asking = {"apikey": owner.api_key}, {"apikey": client.api_key}
        assert http.post("/generate/text/pop", json=POP, headers=worker).json()["id"] is None
        told = http.get("/workers/name/patient worker").json()
        assert (told["performance"], told["chat"]["model_id"]) == ("No requests fulfilled yet", "test/Patient-7B")
        waits = []
        for _ in range(5):
            popped = _asked(lambda: http.post("/generate/text/pop", json={**POP, "wait_seconds": 30}, headers=worker))
            time.sleep(0.5)
            queued = http.post("/generate/chat/async", json=CHAT, headers=asking).json()["id"]
            started = time.monotonic()
            job = popped()
            waits.append(time.monotonic() - started)

            ended = _asked(partial(http.get, f"/generate/chat/status/{queued}?wait_seconds=30"))
            time.sleep(0.3)
            message = {"role": "assistant", "content": "Hello to you, patient one."}
            reply = {"id": job["id"], "message": message, "finish_reason": "stop", "model_id": POP["model_id"]}
            assert http.post("/generate/text/submit", json=reply, headers=worker).status_code == 200
            started = time.monotonic()
            assert ended()["done"] is True
            waits.append(time.monotonic() - started)
        # woken in milliseconds, says the benchmark; a call that nobody wakes looks for the last time after 30 seconds
        assert max(waits) < 15, waits


def test_a_worker_that_goes_away_while_it_waits_takes_no_job_with_it(services: Services) -> None:
    owner, client = services.account("gone_owner"), services.account("gone_client")
    model = "test/Gone-7B"
    pop = {**POP, "name": "gone worker", "models": [model], "model_id": model}
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=60, headers={"apikey": owner.api_key}) as http:
        http.post("/generate/text/pop", json=pop)
        try:
            http.post("/generate/text/pop", json={**pop, "wait_seconds": 30}, timeout=0.5)
        except httpx.ReadTimeout:
            pass
        else:
            raise AssertionError("it did not wait")
        queued = http.post("/generate/chat/async", json={**CHAT, "model": model}, headers={"apikey": client.api_key})
        time.sleep(0.5)
        assert http.get(f"/generate/chat/status/{queued.json()['id']}").json()["processing"] == 0
        assert http.post("/generate/text/pop", json=pop).json()["id"] is not None


def _asked(call: Callable[[], httpx.Response]) -> Callable[[], Any]:
    """Begins a call in a thread; what is returned waits for its JSON."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(call().json()), daemon=True)
    thread.start()

    def answer() -> Any:
        thread.join(40)
        return answers[0]

    return answer
