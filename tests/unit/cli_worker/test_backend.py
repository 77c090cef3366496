"""What is asked of a backend, and what its errors mean."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from horde.cli.worker.backend import FaultReason, estimated_tokens, events, failure, request_body
from horde.contract.vocabulary import chat_declaration
from tests.fakes.worker_horde import a_job


def read(**changed: Any) -> chat_declaration.ChatJobPayload:
    return chat_declaration.ChatJobPayload.from_pop(a_job(**changed))


def test_every_sampling_key_is_said_so_that_no_default_of_the_backend_applies() -> None:
    body = request_body(read(stop_sequence=["."], seed=0), "m", is_plain=False)
    assert {name: body[name] for name in ("top_k", "min_p", "repeat_penalty", "repetition_penalty")} == {
        "top_k": 0,
        "min_p": 0,
        "repeat_penalty": 1.0,
        "repetition_penalty": 1.0,
    }
    assert (body["max_tokens"], body["stop"], body["seed"], body["stream"]) == (64, ["."], 0, True)
    assert "tools" not in body
    assert "top_k" not in request_body(read(), "m", is_plain=True)


SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


@pytest.mark.parametrize(
    ("changed", "error", "reason"),
    [
        (
            {},
            {"code": 400, "message": "request (5031 tokens) exceeds …", "type": "exceed_context_size_error"},
            "overflow",
        ),
        ({}, {"message": "This model's maximum context length is 4096 tokens"}, "overflow"),
        ({}, {"code": "context_length_exceeded", "message": ""}, "overflow"),
        ({"response_format": SCHEMA}, {"code": 400, "message": "JSON schema error at #/properties/a"}, "grammar"),
        ({}, {"code": 400, "message": "JSON schema error"}, "error"),
        ({}, {"code": 500, "message": "out of memory"}, "error"),
    ],
)
def test_an_error_of_the_backend_becomes_the_hordes_reason(
    changed: dict[str, Any], error: dict[str, Any], reason: str
) -> None:
    wanted = {
        "overflow": FaultReason.PROMPT_OVERFLOW,
        "grammar": FaultReason.UNBUILDABLE_GRAMMAR,
        "error": FaultReason.GENERATION_ERROR,
    }
    assert failure(json.dumps({"error": error}).encode(), read(**changed)).reason is wanted[reason]


def test_a_body_that_is_no_json_is_an_error_too() -> None:
    assert failure(b"<html>", read()).reason is FaultReason.GENERATION_ERROR
    assert failure(b"[1]", read()).reason is FaultReason.GENERATION_ERROR


async def test_events_are_cut_at_line_feeds_only_wherever_the_bytes_are_cut() -> None:
    whole = 'data: {"a": "x\u2028y\x85z"}\r\n\r\n: comment\nevent: x\ndata:[DONE]'.encode()

    async def one_by_one() -> AsyncIterator[bytes]:
        for byte in whole:
            yield bytes([byte])

    assert [data async for data in events(one_by_one())] == ['{"a": "x\u2028y\x85z"}'.encode(), b"[DONE]"]


def test_the_estimate_counts_texts_images_and_tools() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "x" * 300}, image]},
        {"role": "user", "content": "y" * 30},
    ]
    assert estimated_tokens(read(messages=messages)) == 110 + 512
    assert estimated_tokens(read(messages=[{"role": "assistant", "content": None}])) == 0
