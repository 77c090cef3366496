"""The OpenAPI document: whole, and about the addresses that exist."""

from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import orjson
import pytest

from horde.contract.chat import parse_chat_request
from horde.contract.refusal import Refusal
from services.gateway.app import OPERATIONS
from services.gateway.documents.operations import document
from services.gateway.documents.schemas import SCHEMAS
from tests.contract.chat_bodies import TOOL, USER, answer, body, call

FRONT = {
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{id}"),
    ("GET", "/health"),
    ("GET", "/ready"),
}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
STRICT = {"name": "x", "schema": {"type": "string"}, "strict": True}


def test_every_operation_is_documented_with_answers_and_errors() -> None:
    paths = document(OPERATIONS)["paths"]
    assert isinstance(paths, dict)
    told = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    native = {(one.method, f"/api{one.path.replace(':path', '')}") for one in OPERATIONS}
    assert told - native == FRONT
    assert native <= told
    for methods in [methods for path, methods in paths.items() if path.startswith("/api/")]:
        for entry in methods.values():
            assert {"429", "500", "503"} <= set(entry["responses"])
            assert {"200", "201"} & set(entry["responses"])


def test_every_operation_has_a_name_of_its_own_for_makers_of_clients() -> None:
    paths = cast("dict[str, dict[str, Any]]", document(OPERATIONS)["paths"])
    names = [entry["operationId"] for methods in paths.values() for entry in methods.values()]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert {"post_generate_chat_async", "get_users_id", "post_v1_chat_completions"} <= set(names)


def examples() -> Iterator[tuple[str, Any, Any]]:
    """What each example stands for, its schema, and the example; one without an example fails."""
    for path, methods in cast("dict[str, Any]", document(OPERATIONS)["paths"]).items():
        for method, entry in methods.items():
            told = {status: answer["content"] for status, answer in entry["responses"].items()}
            if "requestBody" in entry:
                told["body"] = entry["requestBody"]["content"]
            for what, content in told.items():
                yield (
                    f"{method.upper()} {path} {what}",
                    *(content["application/json"][key] for key in ("schema", "example")),
                )


def test_every_body_answer_and_error_has_an_example_that_its_shape_allows() -> None:
    shown = list(examples())
    assert len(shown) > 300
    for what, schema, example in shown:
        whole = {**schema, "components": {"schemas": SCHEMAS}}
        described = jsonschema_rs.Draft202012Validator(orjson.loads(orjson.dumps(whole)))
        assert [str(wrong) for wrong in described.iter_errors(example)] == [], what


def test_every_reference_leads_somewhere() -> None:
    def references(value: object) -> set[str]:
        if isinstance(value, dict):
            own = {str(value["$ref"])} if "$ref" in value else set()
            return own.union(*(references(inner) for inner in value.values()))
        if isinstance(value, list | tuple):
            return set().union(*(references(inner) for inner in value))
        return set()

    assert references(document(OPERATIONS)) == {f"#/components/schemas/{name}" for name in SCHEMAS}


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [
        (body(), True),
        (body(messages=[{"role": "user", "content": [{"type": "text", "text": "x"}, IMAGE]}]), True),
        (body(messages=[{"role": "assistant", "content": [IMAGE]}]), False),
        (body(messages=[call("a"), answer("a"), USER]), True),
        (body(messages=[{**USER, "tool_calls": []}]), False),
        (body(messages=[{"role": "function", "content": ""}]), False),
        (body(messages=[]), False),
        (body(tools=[TOOL], tool_choice="required", parallel_tool_calls=False), True),
        (body(tools=[{"type": "web_search"}]), False),
        (body(response_format={"type": "json_schema", "json_schema": STRICT}), True),
        (body(response_format={"type": "grammar"}), False),
        (body(n=1, stop=["a"], seed=-(2**63), metadata={"a": 1}, reasoning_effort="xhigh"), True),
        (body(n=2), False),
        (body(max_tokens=15), False),
        (body(logprobs=True), False),
        (body(horde={"context_fit": "reject", "max_kudos": 5, "dry_run": True}), True),
        (body(horde={"context_fit": "ignore"}), False),
        (body(horde={"models": ["m"]}), False),
    ],
)
def test_the_document_calls_right_what_a_chat_submit_takes(sent: dict[str, Any], *, is_taken: bool) -> None:
    document = {"$ref": "#/components/schemas/ChatRequest", "components": {"schemas": SCHEMAS}}
    described = jsonschema_rs.Draft202012Validator(orjson.loads(orjson.dumps(document)))
    assert described.is_valid(sent) == is_taken
    try:
        parse_chat_request(orjson.dumps(sent))
    except Refusal:
        assert not is_taken
    else:
        assert is_taken
