"""Every row of `moderation_sentences`; what it leaves as it was; and that who is put out is out at once."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest

from horde.cli.admin import create_account
from tests.system.moderation_sentences import REVIEW, ROWS
from tests.system.native_sentences import Row
from tests.system.services import SECRET, Services

MODEL = "sentences/of-moderation"

_HEARD_SECONDS = 3.0
"""Within this a change has been heard of on any machine; unheard of, an answer would be remembered for five seconds."""


@dataclass
class Review:
    """Callers, and one event."""

    http: httpx.Client
    keys: dict[str, str]
    event: int

    def call(self, row: Row, prefix: str) -> httpx.Response:
        method, path = row.call.replace("{event}", str(self.event)).split(" ", 1)
        headers = {} if row.who is None else {"apikey": self.keys[row.who]}
        sent = {} if row.body is None else {"json": row.body}
        return self.http.request(method, f"{prefix}/{path}", headers=headers, **sent)

    def post(self, path: str, who: str, address: str, body: Any) -> httpx.Response:
        """A call from some address."""
        headers = {"apikey": self.keys[who], "X-Forwarded-For": address}
        return self.http.post(f"/v2/{path}", headers=headers, json=body)

    def told(self) -> Any:
        """The event, as moderators see it."""
        answer = self.http.get(f"/v2/{REVIEW}/prompts?event_id={self.event}", headers={"apikey": self.keys["mod"]})
        return answer.json()["events"]


@pytest.fixture(scope="module")
def review(services: Services) -> Iterator[Review]:
    made = create_account(services.database_url, SECRET, "mod_of_sentences", moderator=True)
    keys = {"mod": asyncio.run(made).api_key, "anonymous": "0000000000", "nobody": "nobody's key"}
    keys["alice"] = services.account("alice_of_sentences").api_key
    with httpx.Client(base_url=services.url, timeout=20) as http:
        yield Review(http, keys, asyncio.run(_event(services.database_url)))


async def _event(database_url: str) -> int:
    connection = await asyncpg.connect(database_url)
    try:
        made: int = await connection.fetchval(
            """INSERT INTO moderation.moderation_events (reason, outcome, text_state, ipaddr)
               VALUES ('model_rejection', 'rejected', 'none', '192.0.2.1') RETURNING id"""
        )
        return made
    finally:
        await connection.close()


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_is_told_what_the_reference_says(review: Review, row: Row) -> None:
    for prefix in ("/api/v2", "/v2"):
        answer = review.call(row, prefix)
        assert (answer.status_code, answer.json().get("rc")) == (row.status, row.rc)
        assert answer.headers["cache-control"] == "private, no-store"
        exposed = set(answer.headers["access-control-expose-headers"].split(", "))
        assert {"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= exposed


def test_none_of_them_changed_the_event(review: Review) -> None:
    (event,) = review.told()
    assert (event["notes"], event["marks"], event["hold_source"]) == ([], [], None)


def test_a_note_has_up_to_two_thousand_characters_and_is_kept_as_it_was_sent(review: Review) -> None:
    sent = ("😀" * 2000, "  not trimmed ")
    for note in sent:
        row = Row("mod", f"POST {REVIEW}/prompts/{{event}}/notes", {"note": note, "author_id": 1}, 201)
        assert review.call(row, "/v2").status_code == 201
    (event,) = review.told()
    assert [note["note"] for note in event["notes"]] == list(sent)
    assert {note["reviewer"]["username"].partition("#")[0] for note in event["notes"]} == {"mod_of_sentences"}
    assert event["hold_source"] == "note"
    assert "job_id" not in json.dumps(event)


def test_an_address_that_is_put_out_is_refused_at_once_and_let_in_likewise(review: Review) -> None:
    address = "198.51.100.77"
    pop = {"name": "of moderation", "models": [MODEL], "bridge_agent": "tests:1:tests"}
    ask = {"prompt": "x", "models": [MODEL]}
    calls = (("generate/text/pop", pop, 200), ("generate/text/async", ask, 202))
    moderator = {"apikey": review.keys["mod"]}
    for length in ({"hours": 1}, {"hours": 720}):
        for path, body, status in calls:
            assert review.post(path, "alice", address, body).status_code == status
        block = {"ipaddr": address, **length}
        assert review.http.post("/v2/operations/ipaddr", headers=moderator, json=block).is_success
        for path, body, _ in reversed(calls):
            refused = _heard(403, partial(review.post, path, "alice", address, body))
            assert (refused.status_code, refused.json().get("rc")) == (403, "TimeoutIP")
        forgiven = review.http.request("DELETE", "/v2/operations/ipaddr", headers=moderator, json={"ipaddr": address})
        assert forgiven.is_success
        for path, body, status in reversed(calls):
            let_in = _heard(status, partial(review.post, path, "alice", address, body))
            assert let_in.status_code == status


def _heard(status: int, call: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer with this status, or the last one before time was up."""
    ends_at = time.monotonic() + _HEARD_SECONDS
    while (answer := call()).status_code != status and time.monotonic() < ends_at:
        time.sleep(0.02)
    return answer
