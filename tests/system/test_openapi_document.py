"""The published document against the running system: bodies made from it, right ones and wrong ones, never break it."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from horde.cli.admin import create_account
from tests.system.services import SECRET, Services

MODEL = "fuzz/Fuzzed-7B"
EXAMPLES = 40
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
OPERATIONS = [
    ("POST", "/api/v2/generate/chat/async"),
    ("GET", "/api/v2/generate/chat/status/{id}"),
    ("DELETE", "/api/v2/generate/chat/status/{id}"),
    ("POST", "/api/v2/generate/text/pop"),
    ("POST", "/api/v2/generate/text/progress"),
    ("POST", "/api/v2/generate/text/submit"),
    ("GET", "/api/v2/users"),
    ("GET", "/api/v2/users/{id}"),
    ("PUT", "/api/v2/users/{id}"),
    ("GET", "/api/v2/users/{id}/usage"),
    ("PUT", "/api/v2/sharedkeys"),
    ("PATCH", "/api/v2/sharedkeys/{id}"),
    ("POST", "/api/v2/kudos/transfer"),
    ("GET", "/api/v2/documents/privacy"),
    ("GET", "/api/v2/operations/moderation"),
    ("GET", "/api/v2/operations/moderation/prompts"),
    ("POST", "/api/v2/operations/moderation/prompts/{id}/notes"),
    ("GET", "/api/v2/operations/moderation/worker_suspicion_events"),
]
# An id is any text, so only bodies can be wrong.
MODES = [(GenerationMode.POSITIVE, one) for one in OPERATIONS]
MODES += [(GenerationMode.NEGATIVE, one) for one in OPERATIONS if one[0] in {"POST", "PUT", "PATCH"}]
CASES = [pytest.param(mode, *one, id=f"{mode.value} {' '.join(one)}") for mode, one in MODES]


@dataclass
class Fuzzed:
    """A system of these tests' own, its document, and an account's key."""

    url: str
    schema: Any
    api_key: str
    moderator_key: str


@pytest.fixture(scope="module")
def fuzzed(new_services: Callable[..., Services]) -> Iterator[Fuzzed]:
    """The system, with one online worker of the model that every chat request asks for."""
    services = new_services()
    key = services.account("fuzzer").api_key
    pop = {
        "name": "fuzz worker",
        "models": [MODEL],
        "bridge_agent": "tests:1:tests",
        "chat_jobs": True,
        "prompt_jobs": False,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": 8192, "max_length": 1024},
        "chat_features": ["prompt_overflow_refused"],
    }
    with httpx.Client(base_url=services.url, headers={"apikey": key}, timeout=20) as client:
        client.post("/api/v2/generate/text/pop", json=pop).raise_for_status()
        document = client.get("/api/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    # A NUL anywhere is refused before all else, and tested elsewhere.
    schema.config.generation.update(allow_x00=False)
    made = create_account(services.database_url, SECRET, "moderator", moderator=True)
    yield Fuzzed(services.url, schema, key, asyncio.run(made).api_key)
    assert services.ledger_faults() == []


@pytest.mark.parametrize(("mode", "method", "path"), CASES)
def test_every_answer_is_one_of_the_document(fuzzed: Fuzzed, mode: GenerationMode, method: str, path: str) -> None:
    @given(case=fuzzed.schema[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answered(case: Any) -> None:
        if path.endswith("/chat/async") and mode is GenerationMode.POSITIVE:
            # Else nearly every request would end at the model's name.
            case.body = {**{key: value for key, value in case.body.items() if key != "models"}, "model": MODEL}
        key = fuzzed.moderator_key if "/operations/" in path else fuzzed.api_key
        headers = {"apikey": key} if mode is GenerationMode.POSITIVE else {}
        response = case.call(base_url=fuzzed.url, headers=headers, timeout=20)
        case.validate_response(response, checks=CHECKS)
        assert response.json() is not None

    answered()
