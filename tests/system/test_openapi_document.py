"""The published document against the running system: bodies made from it, right ones and wrong ones, never break it."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from horde.cli.admin import CreatedAccount, create_account
from services.gateway.app import OPERATIONS as PUBLISHED
from services.gateway.documents.front import FRONT_PATHS
from tests.system.services import SECRET, Services

MODEL = "fuzz/Fuzzed-7B"
ANONYMOUS = "0000000000"
POP = {
    "name": "fuzz worker",
    "models": [MODEL],
    "bridge_agent": "tests:1:tests",
    "chat_jobs": True,
    "prompt_jobs": False,
    "model_id": MODEL,
    "chat_limits": {"max_context_length": 8192, "max_length": 1024},
    "chat_features": ["prompt_overflow_refused"],
}
EXAMPLES = 20
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
OPERATIONS = [(one.method, f"/api{one.path.replace(':path', '')}") for one in PUBLISHED]
OPERATIONS += [(method.upper(), path) for path, methods in FRONT_PATHS.items() for method in methods]
MODES = [(GenerationMode.POSITIVE, one) for one in OPERATIONS]
MODES += [(GenerationMode.NEGATIVE, one) for one in OPERATIONS if one[0] in {"POST", "PUT", "PATCH"}]
CASES = [pytest.param(mode, *one, id=f"{mode.value} {' '.join(one)}") for mode, one in MODES]


@dataclass
class Fuzzed:
    """A system of these tests' own, its document, the keys of everybody who may ask, and ids that exist, by address."""

    url: str
    schema: Any
    keys: list[str | None]
    ids: dict[str, str]

    def known(self, path: str) -> str | None:
        """What exists at an address; None where nothing can."""
        return next((known for start, known in self.ids.items() if path.startswith(f"/api/v2/{start}/{{")), None)


@pytest.fixture(scope="module")
def fuzzed(new_services: Callable[..., Services]) -> Iterator[Fuzzed]:
    """The system, with one online worker of the model that every chat request asks for, and one of everything."""
    services = new_services()
    key = services.account("fuzzer").api_key
    made = create_account(services.database_url, SECRET, "moderator", moderator=True)
    moderator = asyncio.run(made).api_key
    with httpx.Client(base_url=services.url, headers={"apikey": key}, timeout=20) as client:
        ids = one_of_everything(client, services.account("victim"), moderator)
        document = client.get("/api/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    # A NUL anywhere is refused before all else, and tested elsewhere.
    schema.config.generation.update(allow_x00=False)
    yield Fuzzed(services.url, schema, [key, moderator, ANONYMOUS, "nobody's", None], ids)
    assert services.ledger_faults() == []


def one_of_everything(client: httpx.Client, victim: CreatedAccount, moderator: str) -> dict[str, str]:
    """Makes it; gives the ids by the address they stand at. What a test may delete or flag is the victim's."""

    def made(method: str, path: str, body: Any, key: str | None = None) -> Any:
        answer = client.request(method, f"/api/v2/{path}", json=body, headers={} if key is None else {"apikey": key})
        return answer.raise_for_status().json()

    made("POST", "generate/text/pop", POP)
    made("POST", "generate/text/pop", {**POP, "name": "victim worker"}, victim.api_key)
    worker = client.get("/api/v2/workers/name/victim worker").json()["id"]
    message = {"worker_id": worker, "message": "hello"}
    chat = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
    text = {"prompt": "Hello", "models": ["nobody/has-it"]}
    request = made("POST", "generate/text/async", text)["id"]
    return {
        "generate/chat/status": made("POST", "generate/chat/async", chat)["id"],
        "generate/text/status": request,
        "generate/text/request": request,
        "status/models": MODEL,
        "users": str(victim.id),
        "sharedkeys": made("PUT", "sharedkeys", {}, victim.api_key)["id"],
        "operations/ipaddr": "203.0.113.0/24",
        "operations/block_worker_ipaddr": worker,
        "filters": made("PUT", "filters", {"regex": "a+b+c", "filter_type": 29}, moderator)["id"],
        "workers/messages": made("POST", "workers/messages", message, victim.api_key)["id"],
        "workers/name": "victim worker",
        "workers": worker,
    }


@pytest.mark.parametrize(("mode", "method", "path"), CASES)
def test_every_answer_is_one_of_the_document(fuzzed: Fuzzed, mode: GenerationMode, method: str, path: str) -> None:
    known = fuzzed.known(path)

    @given(
        case=fuzzed.schema[path][method].as_strategy(generation_mode=mode),
        key=st.sampled_from(fuzzed.keys),
        exists=st.booleans(),
    )
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answered(case: Any, key: str | None, *, exists: bool) -> None:
        if path.endswith("/chat/async") and mode is GenerationMode.POSITIVE:
            # Else nearly every request would end at the model's name.
            case.body = {**{key: value for key, value in case.body.items() if key != "models"}, "model": MODEL}
        # Who asks to wait for a change of what never changes waits.
        case.query = {name: value for name, value in (case.query or {}).items() if name != "wait_seconds"}
        if known is not None and exists:
            case.path_parameters = dict.fromkeys(case.path_parameters, known)
        response = case.call(base_url=fuzzed.url, headers={} if key is None else {"apikey": key}, timeout=20)
        case.validate_response(response, checks=CHECKS)
        assert response.json() is not None

    answered()


TAKING = [one for one in OPERATIONS if one[0] in {"POST", "PUT", "PATCH", "DELETE"}]


@pytest.mark.parametrize(("method", "path"), TAKING, ids=[" ".join(one) for one in TAKING])
def test_the_example_of_a_body_can_be_sent_as_it_stands(fuzzed: Fuzzed, method: str, path: str) -> None:
    entry = fuzzed.schema.raw_schema["paths"][path][method.lower()]
    if "requestBody" not in entry:
        return
    known = fuzzed.known(path) or ""
    sent = entry["requestBody"]["content"]["application/json"]["example"]
    if path.startswith("/v1/"):
        sent = {**sent, "model": "nobody/has-it"}  # the worker of the first example would be waited for
    answer = httpx.request(
        method,
        fuzzed.url + re.sub(r"\{\w+\}", known, path),
        json=sent,
        headers={"apikey": fuzzed.keys[1] or ""},
        timeout=20,
    )
    told = answer.json()
    wrong = told.get("error", told)
    assert "errors" not in wrong
    assert wrong.get("rc") not in {
        "BadRequest",
        "UnsupportedChatParameter",
        "ChatSubmitInvalid",
        "ChatDeclarationInvalid",
    }
    assert str(answer.status_code) in entry["responses"]
