"""What moderators and administrators decide over HTTP holds in every service: filters, blocks of addresses, modes."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import GenerationMode

from horde.cli.admin import create_account
from tests.system.services import SECRET, Services
from tests.system.test_openapi_document import CHECKS

MODEL = "moderated/Model-7B"
POP = {
    "name": "moderated worker",
    "models": [MODEL],
    "bridge_agent": "tests:1:tests",
    "chat_jobs": True,
    "prompt_jobs": False,
    "model_id": MODEL,
    "max_length": 1024,
    "max_context_length": 8192,
    "chat_limits": {"max_context_length": 8192, "max_length": 1024},
    "chat_features": ["prompt_overflow_refused"],
}
_SOON = 60.0
"""Seconds in which what was decided has to hold: the memories of other services are shorter."""


@dataclass
class Scene:
    """A system with one online worker, and the keys of those who play in it."""

    url: str
    http: httpx.Client
    boss: dict[str, str]
    moderator: dict[str, str]
    flagged: dict[str, str]
    owner: dict[str, str]

    def call(self, method: str, path: str, who: dict[str, str], body: Any = None, address: str = "") -> httpx.Response:
        forwarded = {"X-Forwarded-For": address} if address else {}
        return self.http.request(method, path, json=body, headers={**who, **forwarded})

    def chat(self, who: dict[str, str], *texts: str, address: str = "9.9.9.9") -> httpx.Response:
        messages = [{"role": "user", "content": text} for text in texts]
        return self.call("POST", "/generate/chat/async", who, {"model": MODEL, "messages": messages}, address)

    def text(self, who: dict[str, str], prompt: str, address: str = "9.9.9.9") -> httpx.Response:
        return self.call("POST", "/generate/text/async", who, {"prompt": prompt, "models": [MODEL]}, address)

    def pop(self, address: str = "8.8.8.8", **changed: Any) -> httpx.Response:
        return self.call("POST", "/generate/text/pop", self.owner, {**POP, **changed}, address)


def until(what: Callable[[], Any]) -> Any:
    """What it gives, once it is true."""
    end = time.monotonic() + _SOON
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


@pytest.fixture(scope="module")
def scene(new_services: Callable[..., Services]) -> Iterator[Scene]:
    """The system of this module."""
    services = new_services(ADMINS="boss#1")

    def key(name: str, **roles: bool) -> dict[str, str]:
        made = create_account(services.database_url, SECRET, name, kudos=100_000, concurrency=500, **roles)
        return {"apikey": asyncio.run(made).api_key}

    boss, moderator, flagged = key("boss"), key("mod", moderator=True), key("flagged", flagged=True)
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=20) as http:
        made = Scene(services.url, http, boss, moderator, flagged, key("owner", trusted=True))
        made.pop().raise_for_status()
        yield made


@pytest.fixture
def filters(scene: Scene) -> Iterator[None]:
    """Two groups of filters, in force until the test ends."""
    made = [
        scene.call("PUT", "/filters", scene.moderator, {"regex": "badword", "filter_type": 10, "replacement": "kind"}),
        scene.call("PUT", "/filters", scene.moderator, {"regex": "worse", "filter_type": 20}),
    ]
    ids = [answer.raise_for_status().json()["id"] for answer in made]
    # The address of a moderator's prompt is not put out, so it can be tried until admission has heard of the filters.
    until(lambda: scene.chat(scene.moderator, "badword worse", address="6.6.6.6").status_code == 400)
    yield
    for one in ids:
        assert scene.call("DELETE", f"/filters/{one}", scene.moderator).json() == {"message": "OK"}


@pytest.mark.parametrize("kind", ["chat", "text"])
def test_a_refused_prompt_puts_its_address_out_until_a_moderator_lets_it_in(
    scene: Scene, filters: None, kind: str
) -> None:
    del filters
    address = f"7.7.7.{len(kind) + ord(kind[0])}"
    send = scene.chat if kind == "chat" else scene.text
    refused = send(scene.owner, "a b.a.d.w.o.r.d, even worse", address=address)
    assert (refused.status_code, refused.json()["rc"]) == (400, "CorruptPrompt")
    (timeout,) = scene.call("GET", f"/operations/ipaddr/{address}", scene.moderator).json()
    assert (timeout["ipaddr"], timeout["seconds"] > 170) == (address, True)
    out = until(lambda: (answer := send(scene.owner, "hello", address=address)).status_code == 403 and answer)
    assert out.json()["rc"] == "TimeoutIP"
    assert 0 < int(out.headers["retry-after"]) <= 180
    scene.call("DELETE", "/operations/ipaddr", scene.moderator, {"ipaddr": address}).raise_for_status()
    until(lambda: send(scene.owner, "hello", address=address).status_code == 202)


def test_a_flagged_account_gets_each_message_rewritten_for_any_model(scene: Scene, filters: None) -> None:
    del filters
    accepted = scene.chat(scene.flagged, "a badword, please", "hello there")
    assert accepted.status_code == 202
    job = until(lambda: (found := scene.pop().json()) and found["id"] and found)
    while [one["content"] for one in job["payload"]["messages"]] != ["a kind, please", "hello there"]:
        job = until(lambda: (found := scene.pop().json()) and found["id"] and found)
    only = scene.call("PATCH", "/filters/1", scene.moderator, {"replacement": ""})
    assert (only.status_code, only.json()["rc"]) == (400, "NoFilterModSelected")


def test_the_address_of_a_worker_is_kept_out_of_pops_and_let_in_again(scene: Scene) -> None:
    worker = scene.http.get("/workers/name/moderated worker").json()["id"]
    path = f"/operations/block_worker_ipaddr/{worker}"
    assert scene.call("PUT", path, scene.moderator, {"days": 5}).json() == {"message": "OK", "blocked": True}
    refused = until(lambda: (answer := scene.pop()).status_code == 403 and answer)
    assert (refused.json()["rc"], "seconds" in refused.json()["message"]) == ("TimeoutIP", False)
    assert scene.call("DELETE", path, scene.moderator).json() == {"message": "OK"}
    until(lambda: scene.pop().status_code == 200)


def test_maintenance_refuses_submits_empties_the_queue_and_lets_workers_finish(scene: Scene) -> None:
    waiting = scene.chat(scene.owner, "one that waits").json()["id"]
    assert scene.call("PUT", "/status/modes", scene.moderator, {"maintenance_mode": True}).json()["rc"] == "NotAdmin"
    switched = scene.call("PUT", "/status/modes", scene.boss, {"maintenance_mode": True})
    assert (switched.status_code, switched.json()) == (200, {"maintenance_mode": True})
    try:
        shown = {"maintenance_mode": True, "invite_only_mode": False}
        assert scene.http.get("/status/modes").json() == shown
        for refused in (scene.chat(scene.owner, "hello"), scene.text(scene.owner, "hello")):
            assert (refused.status_code, refused.json()["rc"]) == (400, "MaintenanceMode")
        assert scene.pop().status_code == 200
        until(lambda: scene.http.get(f"/generate/chat/status/{waiting}").json()["waiting"] == 0)
    finally:
        scene.call("PUT", "/status/modes", scene.boss, {"maintenance_mode": False}).raise_for_status()
    assert scene.chat(scene.owner, "hello").status_code == 202


def test_in_invite_only_mode_no_new_worker_comes_in_and_known_ones_go_on(scene: Scene) -> None:
    switched = scene.call("PUT", "/status/modes", scene.moderator, {"invite_only_mode": True, "raid_mode": True})
    assert switched.json() == {"invite_only_mode": True, "raid_mode": True}
    try:
        assert scene.http.get("/status/modes").json() == {"maintenance_mode": False, "invite_only_mode": True}
        everything = {"maintenance_mode": False, "invite_only_mode": True, "raid_mode": True}
        assert scene.call("GET", "/status/modes", scene.moderator).json() == everything
        refused = scene.pop(name="a new worker", model_id=MODEL)
        assert (refused.status_code, refused.json()["rc"]) == (403, "WorkerInviteOnly")
        assert scene.pop().status_code == 200
    finally:
        off = {"invite_only_mode": False, "raid_mode": False}
        scene.call("PUT", "/status/modes", scene.moderator, off).raise_for_status()
    assert scene.pop(name="a new worker").status_code == 200


def test_in_raid_mode_nobody_is_warned_that_no_worker_serves_a_request(scene: Scene) -> None:
    ask = {"prompt": "hello", "models": ["a model that nobody serves"]}
    assert "message" in scene.call("POST", "/generate/text/async", scene.owner, ask).json()
    scene.call("PUT", "/status/modes", scene.moderator, {"raid_mode": True}).raise_for_status()
    try:
        assert "message" not in scene.call("POST", "/generate/text/async", scene.owner, ask).json()
    finally:
        scene.call("PUT", "/status/modes", scene.moderator, {"raid_mode": False}).raise_for_status()


FUZZED = [
    ("GET", "/api/v2/filters"),
    ("PUT", "/api/v2/filters"),
    ("POST", "/api/v2/filters"),
    ("PATCH", "/api/v2/filters/{id}"),
    ("POST", "/api/v2/operations/ipaddr"),
    ("DELETE", "/api/v2/operations/ipaddr"),
    ("PUT", "/api/v2/operations/block_worker_ipaddr/{worker_id}"),
    ("PUT", "/api/v2/status/modes"),
]


# The last test of this module: it leaves filters, blocks and modes behind.
@pytest.mark.parametrize("operation", FUZZED, ids=" ".join)
def test_every_answer_to_a_moderator_is_one_of_the_document(scene: Scene, operation: tuple[str, str]) -> None:
    method, path = operation
    schema = schemathesis.openapi.from_dict(httpx.get(f"{scene.url}/api/openapi.json", timeout=20).json())
    schema.config.generation.update(allow_x00=False)
    kinds = [schema[path][method].as_strategy(generation_mode=mode) for mode in GenerationMode]

    @given(case=strategies.one_of(kinds))
    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answered(case: Any) -> None:
        response = case.call(base_url=scene.url, headers=scene.moderator, timeout=20)
        case.validate_response(response, checks=CHECKS)
        assert response.json() is not None

    answered()
