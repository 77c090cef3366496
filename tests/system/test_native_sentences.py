"""Every row of `native_sentences`, under both prefixes; and that all of them together changed nothing."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from horde.cli.admin import create_account
from services.gateway.app import OPERATIONS
from tests.system.native_sentences import ROWS, Row
from tests.system.services import SECRET, Services

ROLES: dict[str, dict[str, Any]] = {
    "boss": {"moderator": True},
    "mod": {"moderator": True},
    "alice": {"trusted": True, "kudos": 1000},
    "bob": {"kudos": 1000},
    "flagged": {"flagged": True, "kudos": 1000},
}
POP = {"name": "alice's worker", "models": ["some/model"], "bridge_agent": "tests:1:tests"}


@dataclass
class Cast:
    """A system of these tests' own: who may call it, and what is there to be called."""

    http: httpx.Client
    keys: dict[str, str]
    names: dict[str, str]

    def call(self, row: Row, prefix: str) -> httpx.Response:
        """The row's call, its names filled in."""
        method, path = self._filled(row.call).split(" ", 1)
        headers = {} if row.who is None else {"apikey": self.keys[row.who]}
        body = None if row.body is None else json.loads(self._filled(json.dumps(row.body)))
        sent = {} if body is None else {"json": body}
        return self.http.request(method, f"{prefix}/{path}", headers=headers, **sent)

    def _filled(self, text: str) -> str:
        for name, meant in self.names.items():
            text = text.replace(f"{{{name}}}", meant)
        return text

    def everything(self) -> list[Any]:
        """What the horde tells a moderator of itself, without what moves by itself."""
        moderator = {"apikey": self.keys["mod"]}
        names = self.names
        paths = [f"users/{names[who]}" for who in ROLES]
        paths += ["users/0", f"workers/{names["alice's worker"]}", f"sharedkeys/{names["alice's key"]}"]
        paths += ["workers/messages", "filters", "operations/ipaddr", "status/modes"]
        paths.append(f"generate/text/status/{names['request']}")
        answers = [self.http.get(f"/v2/{path}", headers=moderator).json() for path in paths]
        for answer in answers:
            if isinstance(answer, dict):
                answer.pop("account_age", None)
                answer.pop("uptime", None)
        return answers


@pytest.fixture(scope="module")
def cast(new_services: Callable[..., Services]) -> Iterator[Cast]:
    """The cast, a worker and a shared key and a message of alice's, and a request of bob's."""
    services = new_services(ADMINS='["boss#1"]')
    made = {
        name: asyncio.run(create_account(services.database_url, SECRET, name, **facts)) for name, facts in ROLES.items()
    }
    keys = {name: account.api_key for name, account in made.items()}
    names = {name: str(account.id) for name, account in made.items()}
    with httpx.Client(base_url=services.url, timeout=20) as http:

        def do(method: str, path: str, who: str, body: Any = None) -> Any:
            answer = http.request(method, f"/v2/{path}", json=body, headers={"apikey": keys[who]})
            return answer.raise_for_status().json()

        do("POST", "generate/text/pop", "alice", POP)
        worker = do("GET", "workers/name/alice's worker", "alice")["id"]
        names["alice's worker"] = worker
        names["alice's key"] = do("PUT", "sharedkeys", "alice", {})["id"]
        names["message"] = do("POST", "workers/messages", "alice", {"worker_id": worker, "message": "hello"})["id"]
        names["request"] = do("POST", "generate/text/async", "bob", {"prompt": "x", "models": ["nobody/has-it"]})["id"]
        yield Cast(http, {**keys, "anonymous": "0000000000", "nobody": "nobody's key"}, names)


@pytest.fixture(scope="module")
def before(cast: Cast) -> list[Any]:
    """How everything was."""
    return cast.everything()


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_is_told_what_the_reference_says(cast: Cast, row: Row) -> None:
    for prefix in ("/api/v2", "/v2"):
        answer = cast.call(row, prefix)
        told = answer.json()
        assert (answer.status_code, told.get("rc")) == (row.status, row.rc)
        assert isinstance(told["message"], str)
        assert told["message"]
        assert set(told.get("errors", {})) == set(row.wrong)
        if row.wrong:
            assert told["message"] == "Input payload validation failed"
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["horde-node"]


def methods_by_path() -> dict[str, set[str]]:
    """The methods of every address of the native API."""
    found: dict[str, set[str]] = {}
    for one in OPERATIONS:
        found.setdefault(one.path.replace(":path", ""), set()).add(one.method)
    return found


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize(("path", "methods"), methods_by_path().items(), ids=lambda value: str(value)[:60])
def test_every_address_answers_options_head_and_wrong_methods(cast: Cast, path: str, methods: set[str]) -> None:
    place = re.sub(r"\{\w+\}", "nothing", path)
    preflight = cast.http.options(f"/api{place}", headers={"Access-Control-Request-Headers": "apikey,x-own"})
    assert preflight.is_success
    allowed = {name.strip().lower() for name in preflight.headers["access-control-allow-headers"].split(",")}
    assert {"apikey", "client-agent", "content-type", "x-fields", "x-own"} <= allowed
    shadowed = path in {"/v2/filters/regex", "/v2/workers/messages"}  # other methods take the last part for an id
    for method in set() if shadowed else {"GET", "POST", "PUT", "PATCH", "DELETE"} - methods:
        refused = cast.http.request(method, f"/api{place}")
        assert refused.status_code == 405
        assert refused.json()["message"]
        assert {*methods} <= set(refused.headers["allow"].split(", "))
    if "GET" in methods:
        key = {"apikey": cast.keys["mod"]}
        got, head = cast.http.get(place, headers=key), cast.http.head(place, headers=key)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-type"] == got.headers["content-type"]
        packed = cast.http.get(place, headers={**key, "Accept-Encoding": "identity"})
        assert "content-encoding" not in packed.headers


def test_none_of_them_changed_anything(cast: Cast, before: list[Any]) -> None:
    assert cast.everything() == before
