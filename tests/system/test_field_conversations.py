"""Whole conversations of workers and clients in the field, sent as they send them: each gets what it reads."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.system.services import Services

ANONYMOUS = "0000000000"


@dataclass(frozen=True)
class Kind:
    """A worker's program: what it sends besides the job itself."""

    agent: str
    headers: Mapping[str, str] = field(default_factory=dict)
    pop: Mapping[str, Any] = field(default_factory=dict)
    reply: Mapping[str, Any] = field(default_factory=dict)
    fault: Mapping[str, Any] = field(default_factory=dict)


KOBOLDCPP = Kind(
    "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
    headers={"User-Agent": "KoboldCppEmbeddedWorkerV2", "Client-Agent": "KoboldCppEmbedWorker:2"},
    pop={"priority_usernames": [], "softprompts": [], "threads": 2},
    reply={"state": "ok"},
    fault={
        "state": "faulted",
        "generation": "",
    },  # it drops a failed job; this is how others of its family give one back
)
SCRIBE = Kind(
    "AI Horde Worker~aphrodite~oai:24:https://github.com/db0/AI-Horde-Worker",
    pop={"priority_usernames": [], "softprompts": [], "threads": 1},
    reply={"seed": 0},
    fault={"state": "faulted", "generation": "faulted", "seed": -1},
)
BRIDGE = Kind(
    "KoboldAI Bridge:10:https://github.com/db0/KoboldAI-Horde-Bridge",
    # the misspelt key and the second name of the model are what it sent to the horde before this one
    pop={"priority_usernames": [], "softprompts": ["a.zip"], "max_content_length": 4096, "model": "field/old"},
    fault={"state": "faulted", "generation": "faulted", "seed": -1},
)
SWARM = Kind("llmswarm:1:https://example.org", fault={"generation": "", "state": "faulted", "seed": -1})
PINEAPPLE = Kind(
    "pineapple_bridge:1:https://example.org",
    pop={"extra_slow_worker": False, "amount": 1, "require_upfront_kudos": False, "nsfw": True},
    reply={"state": "ok", "seed": 0},
    fault={"state": "faulted", "generation": "faulted"},
)
KINDS = {"koboldcpp": KOBOLDCPP, "scribe": SCRIBE, "bridge": BRIDGE, "llmswarm": SWARM, "pineapple": PINEAPPLE}


_NUMBERS = itertools.count(1)


class Hand:
    """A worker of some kind, moved step by step."""

    def __init__(self, services: Services, name: str, kind: Kind) -> None:
        number = next(_NUMBERS)
        self.model = f"field/{name}-{number}B"
        self.name = f"field {name} {number}"
        self._kind = kind
        key = {"apikey": services.account(f"owner_of_{name}").api_key}
        self.http = httpx.Client(base_url=f"{services.url}/api/v2", timeout=30, headers={**kind.headers, **key})

    def pop(self) -> dict[str, Any]:
        """A pop's answer, which is never an error."""
        declared = {
            "name": self.name,
            "models": [self.model],
            "max_length": 512,
            "max_context_length": 4096,
            "bridge_agent": self._kind.agent,
            **self._kind.pop,
        }
        answer = self.http.post("/generate/text/pop", json=declared)
        assert answer.status_code == 200
        assert "content-encoding" not in answer.headers  # koboldcpp does not undo one
        popped: dict[str, Any] = answer.json()
        assert {"id", "ids", "payload", "skipped", "softprompt", "model", "messages", "ttl"} <= set(popped)
        return popped

    def submit(self, job: str | None, text: str) -> httpx.Response:
        """The reply, as this kind sends it."""
        return self.http.post("/generate/text/submit", json={"id": job, "generation": text, **self._kind.reply})

    def fault(self, job: str | None) -> httpx.Response:
        """The job given back, as this kind does."""
        return self.http.post("/generate/text/submit", json={"id": job, **self._kind.fault})


@pytest.fixture
def hand(services: Services) -> Iterator[Callable[[str], Hand]]:
    """Makes a worker of a kind."""
    made: list[Hand] = []

    def make(name: str) -> Hand:
        made.append(Hand(services, name, KINDS[name]))
        return made[-1]

    yield make
    for one in made:
        one.http.close()


@pytest.fixture
def http(services: Services) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as client:
        yield client


def ask(http: httpx.Client, model: str, **body: Any) -> str:
    """Queues a prompt; gives the request's id."""
    answer = http.post(
        "/generate/text/async", json={"prompt": "Once", "models": [model], **body}, headers={"apikey": ANONYMOUS}
    )
    assert answer.status_code == 202
    return str(answer.json()["id"])


@pytest.mark.parametrize("name", KINDS)
def test_a_worker_of_the_field_pops_faults_pops_again_and_is_paid(
    http: httpx.Client, hand: Callable[[str], Hand], name: str
) -> None:
    worker = hand(name)
    empty = worker.pop()
    assert (empty["id"], empty["ids"], empty["model"], empty["skipped"]) == (None, [], None, {})
    request = ask(http, worker.model)

    first = worker.pop()
    assert first["model"] == worker.model
    assert first["ids"] == [first["id"]]
    payload = first["payload"]
    assert (payload["prompt"], payload["max_length"], payload["max_context_length"]) == ("Once", 80, 2048)
    assert not {"width", "length", "steps"} & set(payload)  # a sign of an image job, to the scribe and the bridge
    given_back = worker.fault(first["id"])
    assert given_back.status_code == 200
    assert isinstance(given_back.json()["reward"], int | float)

    second = worker.pop()
    assert second["id"] not in {None, first["id"]}
    paid = worker.submit(second["id"], " upon a time")
    assert paid.status_code == 200
    assert paid.json()["reward"] > 0
    # "already submitted" is a success to the bridge, and 400 ends the scribe's tries; so does 404
    again = worker.submit(second["id"], " upon a time")
    assert again.status_code == 400
    assert "already submitted" in again.json()["message"]
    late = worker.submit(first["id"], "late")
    assert (late.status_code, late.json()["rc"]) == (400, "AbortedGen")
    stale = worker.submit("00000000-0000-4000-8000-000000000000", "stale")
    assert (stale.status_code, stale.json()["rc"]) == (404, "InvalidJobID")
    # the bridge forgets the id of a job before it gives it back
    assert worker.fault(None).status_code == 400

    status = http.get(f"/generate/text/status/{request}").json()
    assert (status["done"], status["restarted"], status["generations"][0]["text"]) == (True, 1, " upon a time")
    assert status["generations"][0]["worker_name"] == worker.name


def test_the_bridge_is_told_which_soft_prompt_to_load(http: httpx.Client, hand: Callable[[str], Hand]) -> None:
    worker = hand("bridge")
    assert worker.pop()["softprompt"] is None
    ask(http, worker.model, softprompt="a.zip")
    ask(http, worker.model)
    assert [worker.pop()["softprompt"] for _ in range(2)] == ["a.zip", None]
    unmatched = http.post(
        "/generate/text/async",
        json={"prompt": "Once", "models": [worker.model], "softprompt": "b.zip"},
        headers={"apikey": ANONYMOUS},
    )
    assert unmatched.json()["message"]
    assert worker.pop()["skipped"] == {"matching_softprompt": 1}


def test_the_scribe_reads_its_account_and_its_worker(hand: Callable[[str], Hand]) -> None:
    worker = hand("scribe")
    worker.pop()
    assert worker.http.get("/find_user").json()["username"].startswith("owner_of_scribe#")
    shown = worker.http.get(f"/workers/name/{worker.name}").json()
    assert worker.http.get(f"/workers/{shown['id']}").json()["name"] == worker.name
    assert shown["type"] == "text"


def served(http: httpx.Client, worker: Hand, request: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Polls, serving the job in between, until the request is done."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        answer = http.get(f"/generate/text/status/{request}", headers=headers)
        assert answer.status_code == 200
        status: dict[str, Any] = answer.json()
        assert status.get("message") is None
        assert status["faulted"] is False
        assert status["is_possible"] is True
        assert status["queue_position"] >= 0
        if status["done"]:
            return status
        job = worker.pop()
        if job["id"]:
            worker.submit(job["id"], " upon a time").raise_for_status()
    raise TimeoutError(request)


LITE = {"Client-Agent": "KoboldAiLite:17", "apikey": ANONYMOUS, "Origin": "https://lite.koboldai.net"}


def test_a_browser_may_send_what_koboldai_lite_sends(http: httpx.Client) -> None:
    preflight = {
        "Origin": "https://lite.koboldai.net",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "apikey,client-agent,content-type",
    }
    allowed = http.options("/generate/text/async", headers=preflight)
    assert allowed.is_success
    assert {"apikey", "client-agent", "content-type"} <= {
        name.strip().lower() for name in allowed.headers["access-control-allow-headers"].split(",")
    }


LITE_PARAMS = {
    "n": 1,
    "max_context_length": 2048,
    "max_length": 80,
    "rep_pen": 1.1,
    "temperature": 0.7,
    "top_p": 0.92,
    "top_k": 0,
    "top_a": 0,
    "typical": 1,
    "tfs": 1,
    "rep_pen_range": 256,
    "rep_pen_slope": 0.7,
    "sampler_order": [6, 0, 1, 2, 3, 4, 5],
    "use_default_badwordsids": False,
    "stop_sequence": ["### Instruction:", "### Response:"],
    "min_p": 0,
    "dynatemp_range": 0,
    "dynatemp_exponent": 1,
    "smoothing_factor": 0,
}


def test_koboldai_lite_from_its_lists_to_its_cancel(http: httpx.Client, hand: Callable[[str], Hand]) -> None:
    worker = hand("koboldcpp")
    worker.pop()
    assert {"past_minute_tokens", "text_worker_count", "queued_tokens"} <= set(http.get("/status/performance").json())
    mine, listed = shown(http, worker)
    assert {"name", "count", "performance", "queued", "jobs", "eta"} <= set(listed)
    assert (mine["models"][0], mine["online"], mine["threads"]) == (worker.model, True, 2)
    assert mine["performance"] == "No requests fulfilled yet" or mine["performance"].endswith(" tokens per second")
    assert isinstance(mine["kudos_rewards"], int | float)
    assert {"id", "trusted", "maintenance_mode", "uptime", "requests_fulfilled"} <= set(mine)

    # the same model of two workers is picked twice
    body = {"prompt": "Once", "params": LITE_PARAMS, "models": [worker.model, worker.model], "workers": []}
    queued = http.post("/generate/text/async", json=body, headers=LITE)
    assert queued.status_code == 202
    assert queued.headers["access-control-allow-origin"] == "*"
    assert queued.json().get("message") is None
    status = served(http, worker, queued.json()["id"], {})
    assert {"text", "worker_name", "model"} <= set(status["generations"][0])
    assert status["kudos"] > 0
    unwanted = http.post("/generate/text/async", json=body, headers=LITE).json()["id"]
    assert "message" not in http.delete(f"/generate/text/status/{unwanted}").json()
    assert http.get(f"/generate/text/status/{unwanted}").json()["done"] is True
    assert http.get("/find_user", headers=LITE).json()["username"] == "Anonymous#0"
    switched = worker.http.put(f"/workers/{mine['id']}", json={"maintenance": True})
    assert switched.json() == {"maintenance": True}
    assert worker.http.put(f"/workers/{mine['id']}", json={"maintenance": False}).json() == {"maintenance": False}


def shown(http: httpx.Client, worker: Hand) -> tuple[dict[str, Any], dict[str, Any]]:
    """The worker and its model in the public lists, which may be two seconds old."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        workers = [one for one in http.get("/workers?type=text").json() if one["name"] == worker.name]
        models = [one for one in http.get("/status/models?type=text").json() if one["name"] == worker.model]
        if workers and models:
            return workers[0], models[0]
        time.sleep(0.2)
    raise TimeoutError(worker.name)


SILLY_PARAMS = {
    "gui_settings": False,
    "sampler_order": [6, 0, 1, 2, 3, 4, 5],
    "max_context_length": 2048,
    "max_length": 80,
    "rep_pen": 1.1,
    "rep_pen_range": 600,
    "rep_pen_slope": 0,
    "temperature": 0.8,
    "tfs": 1,
    "top_a": 0,
    "top_k": 0,
    "top_p": 0.9,
    "min_p": 0,
    "typical": 1,
    "use_world_info": False,
    "singleline": False,
    "stop_sequence": ["\nYou:"],
    "streaming": False,
    "can_abort": False,
    "mirostat": 0,
    "mirostat_tau": 0,
    "mirostat_eta": 0,
    "use_default_badwordsids": False,
    "n": 1,
    "frmtadsnsp": False,
    "frmtrmblln": False,
    "frmtrmspch": False,
    "frmttriminc": False,
}


def test_sillytavern_from_its_lists_to_its_cancel(http: httpx.Client, hand: Callable[[str], Hand]) -> None:
    agent = {"Client-Agent": "SillyTavern:UNKNOWN:Cohee#1207"}
    worker = hand("scribe")
    worker.pop()
    assert http.get("/status/heartbeat", headers=agent).is_success
    mine, listed = shown(http, worker)
    assert {"models", "max_context_length", "max_length", "trusted"} <= set(mine)
    assert isinstance(listed["performance"], int | float)
    body = {"prompt": "Once", "params": SILLY_PARAMS, "trusted_workers": False, "models": [worker.model]}
    queued = http.post("/generate/text/async", json=body, headers={**agent, "apikey": ANONYMOUS})
    assert queued.status_code == 202
    status = served(http, worker, queued.json()["id"], agent)
    assert status["generations"][0]["text"] == " upon a time"
    unwanted = http.post("/generate/text/async", json=body, headers={**agent, "apikey": ANONYMOUS}).json()["id"]
    assert http.delete(f"/generate/text/status/{unwanted}", headers=agent).json()["generations"] == []
    refused = http.post("/generate/text/async", json={**body, "prompt": ""}, headers={**agent, "apikey": ANONYMOUS})
    assert (refused.status_code, bool(refused.json()["message"])) == (400, True)
