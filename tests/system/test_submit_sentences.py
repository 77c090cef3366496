"""Every row of `submit_sentences`: what a reply comes to, and what its refusal leaves."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from horde.contract.vocabulary import chat_policy
from tests.system.services import Services
from tests.system.submit_sentences import SUBMITS, Submit

MODEL = "sentences/of-submits"
ASK = {"model": MODEL, "messages": [{"role": "user", "content": "x"}]}
POP = {
    "name": "of submits",
    "models": [MODEL],
    "bridge_agent": "tests:1:tests",
    "chat_jobs": True,
    "model_id": MODEL,
    "chat_limits": {"max_context_length": 8192, "max_length": 1024},
    "chat_features": [*map(str, chat_policy.ChatFeature), *map(str, chat_policy.ChatGuarantee)],
}
REPLY = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop", "model_id": MODEL}


@pytest.fixture(scope="module")
def http(services: Services) -> Iterator[httpx.Client]:
    key = services.account("of_submits").api_key
    with httpx.Client(base_url=f"{services.url}/v2", timeout=20, headers={"apikey": key}) as client:
        client.post("/generate/text/pop", json=POP).raise_for_status()
        yield client


def asked(http: httpx.Client, ask: dict[str, Any], conformance: str) -> tuple[str, str]:
    """A request and its job, which the worker has."""
    body = {**ASK, **ask, "horde": {"conformance": conformance}}
    request = http.post("/generate/chat/async", json=body).raise_for_status().json()["id"]
    job = http.post("/generate/text/pop", json=POP).raise_for_status().json()["id"]
    assert job
    return request, job


@pytest.mark.parametrize(
    ("row", "conformance"),
    [
        *((row, "strict") for row in SUBMITS),
        *((row, "best_effort") for row in SUBMITS if row.strict != row.best_effort),
    ],
    ids=str,
)
def test_each_reply_is_stored_or_refused_as_the_reference_says(
    http: httpx.Client, row: Submit, conformance: str
) -> None:
    request, job = asked(http, row.ask, conformance)
    sent = {key: value for key, value in {**REPLY, **row.sent}.items() if value is not None}
    answer = http.post("/generate/text/submit", json={"id": job, **sent})
    expected = row.strict if conformance == "strict" else row.best_effort
    if expected is not None:
        _is_refused(http, request, answer, expected)
        return
    assert answer.status_code == 200
    status = http.get(f"/generate/chat/status/{request}").json()
    (shown,) = status["generations"]
    assert status["done"]
    assert {key: shown[key] for key in row.shown} == row.shown


def _is_refused(http: httpx.Client, request: str, answer: httpx.Response, rc: str) -> None:
    """The job is still the worker's, and its request tells the reason only once it is faulted."""
    assert (answer.status_code, answer.json()["rc"]) == (400, rc)
    status = http.get(f"/generate/chat/status/{request}").json()
    assert (status["processing"], status["fault_rc"], status["faulted"]) == (1, None, False)
    http.delete(f"/generate/chat/status/{request}").raise_for_status()
