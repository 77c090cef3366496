"""The unmodified openai client against the front of a running gateway."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import BaseModel

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.running_gateway import running
from tests.fakes.told_request import MODEL, ToldRequest

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello"}]


@asynccontextmanager
async def client(retries: int = 0, **settings: Any) -> AsyncIterator[tuple[openai.AsyncOpenAI, ToldRequest]]:
    told = ToldRequest()
    async with (
        running(told, **settings) as gateway,
        openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="0000000000", max_retries=retries) as sdk,
    ):
        yield sdk, told


async def _first_text(stream: openai.AsyncStream[ChatCompletionChunk]) -> None:
    """Reads until some text has come."""
    while not (await anext(stream)).choices[0].delta.content:
        pass


async def test_create_gives_a_completion() -> None:
    async with client() as (sdk, told):
        asking = asyncio.create_task(sdk.chat.completions.create(model=MODEL, messages=HELLO))
        await told.asked_for("GetStatus")
        told.store("Hi!", prompt_tokens=3, completion_tokens=2, reasoning_content="hm")
        completion = await asking
    assert completion.choices[0].message.content == "Hi!"
    assert completion.choices[0].message.model_extra == {"reasoning_content": "hm"}
    assert completion.usage is not None
    assert completion.usage.total_tokens == 5
    assert completion.model == MODEL
    assert completion._request_id


async def test_the_stream_helper_accumulates_text_tools_and_usage() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"city": "Köln"}'}}
    async with client() as (sdk, told):
        helper = sdk.chat.completions.stream(
            model=MODEL,
            messages=HELLO,
            stream_options={"include_usage": True},
            tools=[{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        )
        async with helper as stream:
            told.post(1, "Let me")
            told.post(2, " look.")
            told.store("Let me look.", tool_calls=[call], finish_reason="tool_calls", completion_tokens=7)
            final = await stream.get_final_completion()
    message = final.choices[0].message
    assert message.content == "Let me look."
    assert message.role == "assistant"
    assert message.tool_calls is not None
    assert [(one.id, one.function.name, one.function.arguments) for one in message.tool_calls] == [
        ("c1", "look", '{"city": "Köln"}')
    ]
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage is not None
    assert final.usage.completion_tokens == 7


async def test_parse_sends_a_strict_schema_and_reads_the_reply() -> None:
    class Colour(BaseModel):
        name: str

    async with client() as (sdk, told):
        asking = asyncio.create_task(sdk.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Colour))
        await told.asked_for("GetStatus")
        told.store('{"name": "blue"}')
        parsed = (await asking).choices[0].message.parsed
    assert parsed == Colour(name="blue")
    assert told.submitted()["response_format"]["json_schema"]["strict"] is True
    assert "stream" not in told.submitted()


async def test_a_reply_may_be_replayed_as_it_was_given() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    async with client() as (sdk, told):
        asking = asyncio.create_task(sdk.chat.completions.create(model=MODEL, messages=HELLO))
        await told.asked_for("GetStatus")
        told.store(None, tool_calls=[call], finish_reason="tool_calls", reasoning_content="hm")
        message = (await asking).choices[0].message
        history: list[Any] = [
            *HELLO,
            message,
            {"role": "tool", "tool_call_id": "c1", "content": "rain", "name": "look"},
        ]
        again = asyncio.create_task(sdk.chat.completions.create(model=MODEL, messages=history))
        await told.asked_for("WatchRequest", 2)
        told.store("It rains.")
        await again
    assert told.submitted()["messages"][1:] == [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]


@pytest.mark.parametrize(
    ("reason", "kind", "code"),
    [
        (reasons.INVALID_API_KEY, openai.AuthenticationError, "invalid_api_key"),
        (reasons.UNKNOWN_CHAT_MODEL, openai.NotFoundError, "model_not_found"),
        (reasons.TIMEOUT_IP, openai.PermissionDeniedError, "forbidden"),
        (reasons.PROMPT_EXCEEDS_CONTEXT, openai.BadRequestError, "context_length_exceeded"),
        (reasons.NO_ELIGIBLE_WORKER, openai.InternalServerError, "no_eligible_worker"),
    ],
)
async def test_refusals_are_the_sdks_errors_and_are_not_repeated(
    reason: reasons.Reason, kind: type[openai.APIStatusError], code: str
) -> None:
    async with client(retries=2) as (sdk, told):
        told.answers["AdmitChat"] = Refusal(reason, "Because.")
        with pytest.raises(kind) as refused:
            await sdk.chat.completions.create(model=MODEL, messages=HELLO)
        assert refused.value.code == code
        assert told.count("AdmitChat") == 1


async def test_what_may_be_repeated_is_repeated_by_the_sdk() -> None:
    async with client(retries=1) as (sdk, told):
        told.answers["AdmitChat"] = Refusal(reasons.TOO_MANY_PROMPTS, "Wait.", retry_after=1)
        with pytest.raises(openai.RateLimitError):
            await sdk.chat.completions.create(model=MODEL, messages=HELLO)
        assert told.count("AdmitChat") == 2


async def test_a_failure_inside_a_stream_raises_with_its_code() -> None:
    async with client() as (sdk, told):
        stream = await sdk.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
        told.post(1, "Be")
        await _first_text(stream)
        told.fault("It failed.", "ChatWorkerFault")
        with pytest.raises(openai.APIError) as failed:
            async for _ in stream:
                pass
    assert (failed.value.code, failed.value.message) == ("generation_failed", "It failed.")


async def test_a_restart_that_cannot_be_continued_raises() -> None:
    async with client() as (sdk, told):
        stream = await sdk.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
        told.post(1, "Be")
        await _first_text(stream)
        told.end()
        told.store("Different", generation="g2")
        with pytest.raises(openai.APIError) as failed:
            async for _ in stream:
                pass
    assert failed.value.code == "stream_restarted"


async def test_the_sdks_own_repeat_after_a_time_out_attaches() -> None:
    async with client(retries=1) as (sdk, told):
        asking = asyncio.create_task(
            sdk.with_options(timeout=openai.Timeout(20, read=1.0)).chat.completions.create(
                model=MODEL,
                messages=HELLO,
                extra_headers={"x-stainless-read-timeout": "600"},
            )
        )
        await told.asked_for("WatchRequest", 2)
        told.store("at last")
        assert (await asking).choices[0].message.content == "at last"
        assert told.count("AdmitChat") == 1


async def test_keep_alives_do_not_disturb_the_sdk() -> None:
    async with client(front_keepalive_seconds=0.02) as (sdk, told):
        stream = await sdk.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
        await asyncio.sleep(0.1)
        told.post(1, "a")
        await asyncio.sleep(0.1)
        told.store("ab")
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == "ab"


async def test_models_are_listed_and_retrieved() -> None:
    async with client() as (sdk, _):
        assert [model.id async for model in sdk.models.list()] == [MODEL]
        assert (await sdk.models.retrieve(MODEL)).owned_by == "ai-horde"
        with pytest.raises(openai.NotFoundError):
            await sdk.models.retrieve("nobody/has-it")
