"""Every shape the front sends, read strictly by the types of OpenAI's own client."""

import json
from typing import Any

import pytest
from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from horde_pb.dispatch.v1.dispatch_service_pb2 import ListModelsResponse
from services.gateway.openai import wire
from services.gateway.openai.chunks import DONE, KEEP_ALIVE, Chunks, error_event
from services.gateway.openai.completion import Asked, completion, system_fingerprint
from services.gateway.openai.errors import FrontError
from services.gateway.openai.reply import Reply, Standing
from tests.fakes.told_request import ToldRequest, a_model

ASKED = Asked("11111111-2222-3333-4444-555555555555", 1_790_000_000, include_reasoning=True, prompt_characters=9)
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": "\u2028"}'}}


def stored(content: str | None, **more: Any) -> tuple[Reply, Standing]:
    told = ToldRequest()
    told.store(content, **more)
    standing = wire.standing(told.status)
    assert standing.reply is not None
    return standing.reply, standing


def chunks_of(raw: bytes) -> list[dict[str, Any]]:
    events = raw.split(b"\n\n")
    assert events.pop() == b""
    assert all(event.startswith(b"data: ") and b"\n" not in event for event in events)
    return [json.loads(event.removeprefix(b"data: ")) for event in events]


@pytest.mark.parametrize(
    ("content", "more", "finish"),
    [
        ("text", {}, "stop"),
        ("", {}, "stop"),
        ("text", {"finish_reason": "length", "reasoning_content": "hm"}, "length"),
        (None, {"tool_calls": [CALL], "finish_reason": "tool_calls"}, "tool_calls"),
        (None, {"tool_calls": [CALL], "finish_reason": "stop"}, "stop"),
        ("text", {"finish_reason": "tool_calls"}, "stop"),
        ("gone", {"state": "csam"}, "content_filter"),
    ],
)
def test_a_completion_is_one_of_openais(content: str | None, more: dict[str, Any], finish: str) -> None:
    reply, standing = stored(content, **more)
    read = ChatCompletion.model_validate(completion(ASKED, reply, standing), strict=True)
    assert read.choices[0].finish_reason == finish
    assert read.choices[0].message.content == content
    assert (read.choices[0].message.tool_calls is None) == ("tool_calls" not in more)
    assert read.usage is not None
    assert read.usage.total_tokens == read.usage.prompt_tokens + read.usage.completion_tokens


def test_chunks_are_openais_and_hold_no_line_end() -> None:
    reply, standing = stored("x", tool_calls=[CALL])
    chunks = Chunks(ASKED, "w", "m\u2028", include_usage=True)
    raw = b"".join(
        [
            chunks.role(),
            chunks.reasoning("\u2028\u2029\u0085"),
            chunks.content('"\n\r\u2028🦊'),
            *chunks.tool_calls(reply),
            chunks.empty(),
            chunks.finish("stop"),
            *chunks.usage(reply, standing),
        ]
    )
    assert len(raw.decode().splitlines()) == raw.count(b"\n")
    parsed = chunks_of(raw)
    for chunk in parsed:
        ChatCompletionChunk.model_validate(chunk, strict=True)
        assert "error" not in chunk
        assert chunk["system_fingerprint"] == system_fingerprint("w", "m\u2028")
    assert parsed[2]["choices"][0]["delta"]["content"] == '"\n\r\u2028🦊'
    assert parsed[-1]["choices"] == []
    assert parsed[-1]["horde"]["request_id"] == ASKED.request_id


def test_without_usage_no_chunk_names_it() -> None:
    reply, standing = stored("x")
    chunks = Chunks(ASKED, "w", "m", include_usage=False)
    assert not chunks.usage(reply, standing)
    assert "usage" not in chunks_of(chunks.role())[0]


def test_what_is_no_chunk_has_its_exact_bytes() -> None:
    assert DONE == b"data: [DONE]\n\n"
    assert KEEP_ALIVE == b": keepalive\n"


def test_an_error_has_all_four_keys_on_one_line() -> None:
    event = error_event(FrontError(502, "server_error", "generation_failed", "a\u2028b").body())
    error = chunks_of(event)[0]["error"]
    assert {
        "message": "a\u2028b",
        "type": "server_error",
        "param": None,
        "code": "generation_failed",
    }.items() <= error.items()
    assert len(event.decode().splitlines()) == 2


def test_a_lowered_request_tells_its_adjustments() -> None:
    reply, standing = stored("x")
    told = ToldRequest()
    told.store("x")
    told.status.context_adjustments = b'[{"from":4096,"to":2048,"reason":"worker_max_length"}]'
    standing = wire.standing(told.status)
    assert standing.is_lowered
    told_of = completion(ASKED, reply, standing)["horde"]
    assert isinstance(told_of, dict)
    assert told_of["adjustments"] == [{"from": 4096, "to": 2048, "reason": "worker_max_length"}]


def test_a_card_is_one_of_openais_models() -> None:
    (card,) = wire.cards(ListModelsResponse(models=[a_model()]))
    assert Model.model_validate(card, strict=True).owned_by == "ai-horde"
