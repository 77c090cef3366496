"""Text clients as they are today, unmodified, against the running system with a worker as they are in the field."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.system.services import Services
from tests.system.text_worker import TextWorker

ANONYMOUS = "0000000000"
MODEL = "koboldcpp/Text-7B"
ENDING = "Once upon a time ... the end."


@pytest.fixture(scope="module")
def worker(services: Services) -> Iterator[TextWorker]:
    owner = services.account("text_owner")
    with TextWorker(services.url, owner.api_key, name="text volunteer", model=MODEL) as worker:
        yield worker


@pytest.fixture
def http(services: Services) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as client:
        yield client


def until_done(http: httpx.Client, request_id: str) -> dict[str, Any]:
    """Polls without any key, as all of them do."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        answer = http.get(f"/generate/text/status/{request_id}")
        assert answer.status_code == 200
        status: dict[str, Any] = answer.json()
        assert status.get("message") is None  # KoboldAI Lite takes any for a failure
        assert status["faulted"] is False
        assert status["is_possible"] is True
        if status["done"]:
            return status
        time.sleep(0.1)
    raise TimeoutError(request_id)


def test_horde_sdks_simple_client_gets_its_text(services: Services, worker: TextWorker) -> None:
    client = services.account("sdk_client")
    script = Path(__file__).with_name("sdk_text_client.py")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), client.api_key, MODEL],
        env={**os.environ, "AI_HORDE_URL": f"{services.url}/api/"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["done"]
    assert (told["text"], told["model"]) == (ENDING, MODEL)
    assert told["kudos"] > 0
    assert all(reward > 0 for reward in worker.rewards)


def test_koboldai_lites_calls_get_what_they_read(http: httpx.Client, worker: TextWorker) -> None:
    agent = {"Client-Agent": "KoboldAiLite:17", "apikey": ANONYMOUS}
    body = {
        "prompt": "Once upon a time",
        "params": {
            "n": 1,
            "max_context_length": 2048,
            "max_length": 120,
            "rep_pen": 1.07,
            "temperature": 0.75,
            "top_p": 0.92,
            "top_k": 100,
            "top_a": 0,
            "typical": 1,
            "tfs": 1,
            "rep_pen_range": 360,
            "rep_pen_slope": 0.7,
            "sampler_order": [6, 0, 1, 3, 4, 2, 5],
            "min_p": 0,
            "dynatemp_range": 0,
            "dynatemp_exponent": 1,
            "smoothing_factor": 0,
            "stop_sequence": ["You:", "\nYou "],
        },
        "models": [MODEL],
        "workers": [],
    }
    queued = http.post("/generate/text/async", json=body, headers=agent)
    assert queued.status_code == 202
    assert queued.json()["kudos"] > 0
    status = until_done(http, queued.json()["id"])
    assert {"kudos", "queue_position", "processing", "wait_time"} <= set(status)
    assert status["generations"][0]["text"] == ENDING
    assert (status["generations"][0]["worker_name"], status["generations"][0]["model"]) == ("text volunteer", MODEL)
    time.sleep(0.5)  # it reads the result half a second later, once more
    assert http.get(f"/generate/text/status/{queued.json()['id']}").json()["generations"] == status["generations"]
    payload = worker.popped[-1]["payload"]
    assert payload["sampler_order"] == [6, 0, 1, 3, 4, 2, 5]
    assert payload["stop_sequence"] == ["You:", "\nYou "]


@pytest.mark.usefixtures("worker")
def test_sillytaverns_calls_get_what_they_read(http: httpx.Client) -> None:
    agent = {"Client-Agent": "SillyTavern:UNKNOWN:Cohee#1207", "apikey": ANONYMOUS}
    assert http.get("/status/heartbeat", headers=agent).is_success
    body = {
        "prompt": "Once upon a time",
        "params": {"max_length": 80, "max_context_length": 1024, "temperature": 0.5, "stop_sequence": []},
        "trusted_workers": False,
        "models": [MODEL],
    }
    queued = http.post("/generate/text/async", json=body, headers=agent)
    assert queued.status_code == 202
    assert until_done(http, queued.json()["id"])["generations"][0]["text"] == ENDING
    unserved = http.post("/generate/text/async", json={**body, "models": ["nobody/has-it"]}, headers=agent).json()
    assert unserved["message"]
    assert http.get(f"/generate/text/status/{unserved['id']}").json()["is_possible"] is False
    assert http.delete(f"/generate/text/status/{unserved['id']}").json()["done"] is False
    assert http.get(f"/generate/text/status/{unserved['id']}").json()["done"] is True


@pytest.mark.usefixtures("worker")
def test_a_field_mask_is_not_refused_and_a_request_for_any_model_is_served(http: httpx.Client) -> None:
    agent = {"Client-Agent": "zelda:1:x", "apikey": ANONYMOUS, "X-Fields": "id,kudos"}
    body = {"prompt": "Once upon a time", "params": {"n": 2}, "workers": [], "models": []}
    queued = http.post("/generate/text/async", json=body, headers=agent)
    assert queued.status_code == 202
    status = until_done(http, queued.json()["id"])
    assert [each["text"] for each in status["generations"]] == [ENDING] * 2
    assert {each["worker_name"] for each in status["generations"]} == {"text volunteer"}
    refused = http.post("/generate/text/async", json={"prompt": ""}, headers=agent)
    assert (refused.status_code, refused.json()["rc"]) == (400, "MissingPrompt")


def test_the_families_do_not_find_each_others_requests(services: Services, http: httpx.Client) -> None:
    client = {"apikey": services.account("family_client").api_key}
    body = {"prompt": "Hello", "models": ["nobody/has-it"], "params": {"n": 2}}
    request_id = http.post("/generate/text/async", json=body, headers=client).json()["id"]
    assert http.get(f"/generate/chat/status/{request_id}").json()["rc"] == "RequestNotFound"
    assert http.delete(f"/generate/chat/status/{request_id}").status_code == 404
    kept = http.get(f"/generate/text/request/{request_id}", headers=client)
    assert kept.headers["cache-control"] == "private, no-store"
    assert (kept.json()["prompt"], kept.json()["params"]["n"]) == ("Hello", 2)
    assert http.get(f"/generate/text/request/{request_id}", headers={"apikey": ANONYMOUS}).status_code == 403
    http.delete(f"/generate/text/status/{request_id}")
    assert services.ledger_faults() == []
