"""The OpenAI front of a running gateway, before services whose request tells the story of each test."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.running_gateway import running
from tests.fakes.told_request import CREATED, MODEL, ToldRequest

PATH = "/v1/chat/completions"
ANONYMOUS = {"authorization": "Bearer 0000000000"}


def body(**more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], **more}


@dataclass
class Front:
    client: httpx.AsyncClient
    told: ToldRequest

    async def plain(self, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        return await self.client.post(PATH, json=body(**more), headers=ANONYMOUS | (headers or {}))

    @asynccontextmanager
    async def stream(self, headers: dict[str, str] | None = None, **more: Any) -> AsyncIterator[httpx.Response]:
        sent = body(stream=True, **more)
        async with self.client.stream("POST", PATH, json=sent, headers=ANONYMOUS | (headers or {})) as response:
            yield response


@asynccontextmanager
async def front(**settings: Any) -> AsyncIterator[Front]:
    told = ToldRequest()
    async with running(told, **settings) as gateway:
        yield Front(gateway.client, told)


@dataclass
class Streamed:
    """What a client read: chunks, raw lines, whether `[DONE]` came, whether the connection was cut."""

    chunks: list[dict[str, Any]]
    lines: list[str]
    is_done: bool
    is_cut: bool

    @property
    def text(self) -> str:
        return "".join(choice["delta"].get("content") or "" for choice in self.choices)

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [choice for chunk in self.chunks for choice in chunk.get("choices", ())]

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.chunks[-1]["error"]
        return error


async def read(response: httpx.Response) -> Streamed:
    streamed = Streamed([], [], is_done=False, is_cut=False)
    try:
        async for line in response.aiter_lines():
            streamed.lines.append(line)
            if line == "data: [DONE]":
                streamed.is_done = True
            elif line.startswith("data: "):
                streamed.chunks.append(json.loads(line.removeprefix("data: ")))
    except httpx.RemoteProtocolError:
        streamed.is_cut = True
    return streamed


def error_of(response: httpx.Response) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code", "request_id"} <= error.keys()
    assert response.headers["x-request-id"] == error["request_id"]
    return error


async def test_a_plain_completion_has_openais_shape() -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain(temperature=0.5, max_tokens=64))
        await it.told.asked_for("GetStatus")
        it.told.store("Hi!", prompt_tokens=11, completion_tokens=2, native_finish_reason="eos")
        response = await asking
    assert response.status_code == 200
    assert response.headers["x-horde-request-id"] == it.told.request_id
    answer = response.json()
    assert answer["id"] == f"chatcmpl-{it.told.request_id.replace('-', '')}"
    assert (answer["object"], answer["created"], answer["model"]) == ("chat.completion", CREATED, MODEL)
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi!", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert answer["usage"] == {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    assert answer["horde"] == {
        "request_id": it.told.request_id,
        "kudos": 12.5,
        "worker": {"id": it.told.status.generations[0].worker_id, "name": "a worker"},
        "charge_basis": "output_estimate",
        "queue_wait_seconds": 1.5,
        "native_finish_reason": "eos",
    }
    assert it.told.submitted() == body(temperature=0.5, max_tokens=64)
    assert it.told.last("AdmitChat").caller.api_key == "0000000000"
    assert it.told.last("AdmitChat").caller.client_agent == "openai-front:1:chat-horde"


async def test_a_stream_relays_what_is_posted_and_ends_with_usage() -> None:
    async with front() as it, it.stream(stream_options={"include_usage": True}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        it.told.post(1, reasoning="Hm. ")
        it.told.post(2, "One\u2028two\u0085")
        it.told.post(3, " three 🦊")
        await asyncio.sleep(0.05)
        it.told.store("One\u2028two\u0085 three 🦊!", reasoning_content="Hm. ", completion_tokens=5, reasoning_tokens=1)
        streamed = await read(response)
    assert streamed.is_done
    assert not streamed.is_cut
    assert streamed.text == "One\u2028two\u0085 three 🦊!"
    assert it.told.submitted()["stream"] is True
    assert "stream_options" not in it.told.submitted()
    first, last = streamed.choices[0], streamed.choices[-1]
    assert first["delta"] == {"role": "assistant", "content": ""}
    assert last["delta"] == {}
    assert last["finish_reason"] == "stop"
    assert [choice["finish_reason"] for choice in streamed.choices[:-1]] == [None] * (len(streamed.choices) - 1)
    assert streamed.choices[1]["delta"] == {"reasoning_content": "Hm. "}
    usage = streamed.chunks[-1]
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 5
    assert usage["usage"]["prompt_tokens"] == 2
    assert usage["usage"]["completion_tokens_details"] == {"reasoning_tokens": 1}
    assert usage["horde"]["usage_estimated"] is True
    assert all(chunk["usage"] is None for chunk in streamed.chunks[:-1])
    equal = {(chunk["id"], chunk["created"], chunk["model"], chunk["system_fingerprint"]) for chunk in streamed.chunks}
    assert len(equal) == 1
    assert {line.partition(":")[0] for line in streamed.lines if line} == {"data"}


async def test_a_worker_that_posts_nothing_gives_one_chunk_at_the_end() -> None:
    async with front() as it, it.stream() as response:
        it.told.store("All at once")
        streamed = await read(response)
    assert [choice["delta"] for choice in streamed.choices] == [
        {"role": "assistant", "content": ""},
        {"content": "All at once"},
        {},
    ]
    assert all("usage" not in chunk for chunk in streamed.chunks)
    assert streamed.is_done


async def test_a_plain_and_a_streamed_reply_have_one_fingerprint() -> None:
    async with front() as it:
        async with it.stream() as response:
            it.told.store("x")
            streamed = await read(response)
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus", 3)
        it.told.store("x")
        plain = (await asking).json()
    assert plain["system_fingerprint"] == streamed.chunks[0]["system_fingerprint"]
    assert plain["system_fingerprint"].startswith("fp_")


async def test_a_lost_signal_only_delays_the_reply() -> None:
    async with front() as it:
        it.told.is_deaf = True
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.store("late", signal=False)
        response = await asking
    assert response.json()["choices"][0]["message"]["content"] == "late"


async def test_tool_calls_come_from_the_stored_reply_in_two_chunks_each() -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}},
        {"id": "c2", "type": "function", "function": {"name": "rest", "arguments": ""}},
    ]
    async with front() as it, it.stream() as response:
        it.told.store(None, tool_calls=calls, finish_reason="tool_calls")
        streamed = await read(response)
    deltas = [choice["delta"]["tool_calls"][0] for choice in streamed.choices if "tool_calls" in choice["delta"]]
    assert deltas == [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":1}'}},
        {"index": 1, "id": "c2", "type": "function", "function": {"name": "rest", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    assert streamed.choices[-1]["finish_reason"] == "tool_calls"


async def test_a_reply_that_may_be_refused_is_not_sent_before_it_is_stored() -> None:
    form = {"type": "json_object"}
    async with front() as it, it.stream(response_format=form) as response:
        it.told.post(1, '{"a')
        await asyncio.sleep(0.05)
        it.told.store('{"b": 1}')
        streamed = await read(response)
    assert streamed.text == '{"b": 1}'
    assert streamed.is_done


async def test_a_generation_that_ended_unseen_is_replaced_silently() -> None:
    async with front() as it, it.stream(include_reasoning=False) as response:
        it.told.post(1, reasoning="not shown")
        it.told.end()
        it.told.post(1, "second", generation="g2")
        await asyncio.sleep(0.05)
        it.told.store("second try", generation="g2")
        streamed = await read(response)
    assert streamed.text == "second try"
    assert streamed.is_done


async def test_a_new_reply_that_continues_what_was_sent_ends_well() -> None:
    async with front() as it, it.stream() as response:
        it.told.post(1, "Same ")
        await asyncio.sleep(0.05)
        it.told.end()
        it.told.post(1, "Other", generation="g2")
        await asyncio.sleep(0.05)
        it.told.store("Same words", generation="g2")
        streamed = await read(response)
    assert streamed.text == "Same words"
    assert streamed.is_done


async def test_a_new_reply_that_differs_breaks_the_stream_off() -> None:
    async with front() as it, it.stream() as response:
        it.told.post(1, "Sent ")
        await asyncio.sleep(0.05)
        it.told.end()
        it.told.store("Different", generation="g2")
        streamed = await read(response)
    assert streamed.error["code"] == "stream_restarted"
    assert streamed.error["type"] == "server_error"
    assert streamed.is_cut
    assert not streamed.is_done


async def test_a_fault_inside_a_stream_is_told_and_the_connection_cut() -> None:
    async with front() as it, it.stream() as response:
        it.told.post(1, "Be")
        await asyncio.sleep(0.05)
        it.told.fault("The worker's backend failed while generating.", "ChatWorkerFault")
        streamed = await read(response)
    assert streamed.error["message"] == "The worker's backend failed while generating."
    assert streamed.error["code"] == "generation_failed"
    assert streamed.error["rc"] == "ChatWorkerFault"
    assert streamed.is_cut


async def test_a_fault_of_a_plain_call_is_502_and_never_retried() -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.fault("No.", "ChatSubmitNonconformant")
        response = await asking
    assert response.status_code == 502
    assert error_of(response)["code"] == "generation_failed"
    assert response.headers["x-should-retry"] == "false"
    assert response.headers["x-horde-request-id"] == it.told.request_id


async def test_a_request_that_expired_says_why_its_workers_failed() -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.answers["GetStatus"] = Refusal(reasons.REQUEST_NOT_FOUND, "gone")
        it.told.signal("faulted", fault_reason="It never fit.", fault_rc="ChatWorkerFault")
        response = await asking
    assert (response.status_code, error_of(response)["code"]) == (502, "request_expired")
    assert error_of(response)["message"] == "It never fit."


async def test_a_request_cancelled_elsewhere_ends_without_a_reply() -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.status.done, it.told.status.cancelled = True, True
        it.told.signal("cancelled")
        response = await asking
    assert (response.status_code, error_of(response)["code"]) == (502, "ChatRequestNoGeneration")


async def test_a_client_that_leaves_has_its_request_cancelled() -> None:
    async with front() as it:
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS, timeout=0.3)
        await it.told.asked_for("CancelRequest")
        async with it.stream() as response:
            it.told.post(1, "Be")
            await anext(response.aiter_lines())
        await it.told.asked_for("CancelRequest", 2)


async def test_a_client_that_may_come_back_finds_its_request() -> None:
    sdk = {"x-stainless-lang": "python", "x-stainless-retry-count": "0"}
    async with front(front_abandoned_seconds=5) as it:
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS | sdk, timeout=0.3)
        again = asyncio.create_task(it.plain(sdk | {"x-stainless-retry-count": "1"}))
        await it.told.asked_for("WatchRequest", 2)
        it.told.store("for you")
        response = await again
        assert response.json()["choices"][0]["message"]["content"] == "for you"
        assert (it.told.count("AdmitChat"), it.told.count("CancelRequest")) == (1, 0)


async def test_a_client_that_does_not_come_back_is_cancelled_after_the_grace() -> None:
    async with front(front_abandoned_seconds=0.2) as it:
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS | {"idempotency-key": "k"}, timeout=0.3)
        assert it.told.count("CancelRequest") == 0
        await it.told.asked_for("CancelRequest")


async def test_a_retry_of_an_answered_call_is_a_new_request() -> None:
    sdk = {"x-stainless-lang": "python", "x-stainless-retry-count": "1"}
    async with front() as it:
        for number in (1, 2):
            asking = asyncio.create_task(it.plain(sdk))
            await it.told.asked_for("AdmitChat", number)
            await asyncio.sleep(0.05)
            it.told.store(f"reply {number}")
            assert (await asking).json()["choices"][0]["message"]["content"] == f"reply {number}"


async def test_an_idempotency_key_becomes_the_same_operation_key_each_time() -> None:
    keys = []
    async with front() as it:
        for number in (1, 2):
            asking = asyncio.create_task(it.plain({"idempotency-key": "one"}))
            await it.told.asked_for("AdmitChat", number)
            await asyncio.sleep(0.05)
            it.told.store("x")
            await asking
            keys.append(it.told.submitted()["horde"]["operation_key"])
        clash = await it.plain(
            {"idempotency-key": "one"}, horde={"operation_key": "6f1c1f2e-8d0b-5c57-9a34-3d6a0a4c7e12"}
        )
    assert keys[0] == keys[1]
    assert error_of(clash)["code"] == "conflicting_parameters"


async def test_the_budget_ends_in_504_and_cancels() -> None:
    async with front(front_stream_budget_seconds=0.3) as it:
        response = await it.plain()
        assert (response.status_code, error_of(response)["code"]) == (504, "request_timeout")
        assert it.told.count("CancelRequest") == 1
        async with it.stream() as streaming:
            it.told.post(1, "partly")
            streamed = await read(streaming)
    assert streamed.text == "partly"
    assert streamed.error["code"] == "request_timeout"
    assert streamed.is_cut


async def test_a_plain_call_ends_before_its_sdk_gives_up() -> None:
    async with front() as it:
        response = await it.plain({"x-stainless-read-timeout": "0.6"})
    assert response.status_code == 504


async def test_nobody_online_ends_in_503_after_the_grace() -> None:
    async with front(front_grace_seconds=0.2) as it:
        it.told.status.eligible_worker_threads = 0
        response = await it.plain()
        assert (response.status_code, error_of(response)["code"]) == (503, "no_eligible_worker")
        assert response.headers["retry-after"] == "3"
        assert response.headers["x-should-retry"] == "false"
        assert it.told.count("CancelRequest") == 1


@pytest.mark.parametrize(("threads", "wait", "code"), [(0, 0, "no_eligible_worker"), (2, 900, "queue_too_long")])
async def test_fail_fast_refuses_before_anything_is_sent(threads: int, wait: int, code: str) -> None:
    async with front() as it:
        it.told.status.eligible_worker_threads, it.told.status.wait_time_seconds = threads, wait
        async with it.stream(horde={"availability_mode": "fail_fast"}) as response:
            await response.aread()
    assert (response.status_code, error_of(response)["code"]) == (503, code)


@pytest.mark.parametrize(
    ("missing", "exceeded", "status", "code", "param"),
    [
        ([], ["max_length"], 400, "max_tokens_exceeded", "max_tokens"),
        ([], ["max_context_length"], 400, "context_length_exceeded", "messages"),
        (["tools"], ["max_length"], 404, "no_eligible_worker", "tools"),
        (["seed", "json_object"], [], 404, "no_eligible_worker", "response_format"),
    ],
)
async def test_a_declaration_gap_wins_over_fail_fast(
    missing: list[str], exceeded: list[str], status: int, code: str, param: str
) -> None:
    gap = {"kind": "declaration_gap", "missing_declarations": missing, "exceeded_limits": exceeded}
    async with front() as it:
        it.told.status.eligible_worker_threads = 0
        it.told.status.impossible_reason = json.dumps(gap).encode()
        response = await it.plain(horde={"availability_mode": "fail_fast"})
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (status, code, param)
    assert error["impossible_reason"] == gap


async def test_a_silent_stream_is_kept_open_by_comments_without_a_blank_line() -> None:
    async with front(front_keepalive_seconds=0.05) as it, it.stream() as response:
        raw = b""
        async for piece in response.aiter_raw():
            raw += piece
            if raw.count(b": keepalive\n") == 2:
                it.told.store("x")
    assert raw.startswith(b": keepalive\n: keepalive\n")
    assert b"\n\n: keepalive\n\n" not in raw
    assert raw.endswith(b"data: [DONE]\n\n")


async def test_keep_alive_chunks_begin_only_after_the_role() -> None:
    async with front(front_keepalive_seconds=0.05, front_keepalive="chunk") as it, it.stream() as response:
        await asyncio.sleep(0.15)
        it.told.post(1, "a")
        await asyncio.sleep(0.15)
        it.told.store("a")
        streamed = await read(response)
    assert streamed.choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert {"delta": {}, "index": 0, "logprobs": None, "finish_reason": None} in streamed.choices
    assert streamed.text == "a"


async def test_the_setting_buffer_sends_nothing_before_the_stored_reply() -> None:
    async with front(front_restart="buffer") as it, it.stream() as response:
        it.told.post(1, "early")
        await asyncio.sleep(0.05)
        it.told.store("other")
        streamed = await read(response)
    assert streamed.text == "other"


async def test_hidden_reasoning_is_not_shown_but_counted() -> None:
    hidden: dict[str, Any] = {"horde": {"include_reasoning": False}, "stream_options": {"include_usage": True}}
    async with front() as it, it.stream(**hidden) as response:
        it.told.post(1, reasoning="secret")
        await asyncio.sleep(0.05)
        it.told.store("answer", reasoning_content="secret thought", reasoning_tokens=9, completion_tokens=12)
        streamed = await read(response)
    assert "secret" not in "".join(streamed.lines)
    assert streamed.chunks[-1]["usage"]["completion_tokens"] == 12


async def test_a_censored_reply_finishes_as_a_content_filter() -> None:
    async with front() as it, it.stream() as response:
        it.told.store("removed", state="censored")
        streamed = await read(response)
    assert streamed.text == "removed"
    assert streamed.choices[-1]["finish_reason"] == "content_filter"


@pytest.mark.parametrize(
    ("reason", "status", "kind", "code", "param", "retry"),
    [
        (reasons.INVALID_API_KEY, 401, "invalid_request_error", "invalid_api_key", None, "false"),
        (reasons.UNKNOWN_CHAT_MODEL, 404, "invalid_request_error", "model_not_found", "model", "false"),
        (reasons.NO_ELIGIBLE_WORKER, 503, "service_unavailable_error", "no_eligible_worker", "model", "false"),
        (reasons.PROMPT_EXCEEDS_CONTEXT, 400, "invalid_request_error", "context_length_exceeded", "messages", "false"),
        (reasons.KUDOS_UPFRONT, 402, "insufficient_quota", "insufficient_kudos", "max_tokens", "false"),
        (reasons.TIMEOUT_IP, 403, "permission_error", "forbidden", None, "false"),
        (reasons.TOO_MANY_PROMPTS, 429, "rate_limit_error", "rate_limit_exceeded", None, "true"),
        (reasons.MAINTENANCE_MODE, 503, "service_unavailable_error", "service_unavailable", None, "true"),
        (reasons.OPERATION_KEY_CONFLICT, 400, "idempotency_error", "idempotency_key_conflict", None, "false"),
        (reasons.CORRUPT_PROMPT, 400, "invalid_request_error", "content_policy_violation", "messages", "false"),
        (reasons.DELETED_USER, 403, "permission_error", "forbidden", None, "false"),
    ],
)
async def test_refusals_of_admission_have_openais_shape(
    reason: reasons.Reason, status: int, kind: str, code: str, param: str | None, retry: str
) -> None:
    async with front() as it:
        it.told.answers["AdmitChat"] = Refusal(reason, "Because.")
        response = await it.plain()
        async with it.stream() as streaming:
            await streaming.aread()
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"], error["param"]) == (status, kind, code, param)
    assert (error["message"], error["rc"]) == ("Because.", reason.word)
    assert response.headers["x-should-retry"] == retry
    assert streaming.status_code == status


async def test_an_unreachable_horde_may_be_retried_only_with_an_operation_key() -> None:
    async with front() as it:
        it.told.answers["AdmitChat"] = RuntimeError("a bug over there")
        once = await it.plain()
        keyed = await it.plain({"idempotency-key": "k"})
    assert (once.status_code, error_of(once)["code"]) == (502, "upstream_unavailable")
    assert once.headers["x-should-retry"] == "false"
    assert keyed.headers["x-should-retry"] == "true"


@pytest.mark.parametrize("header", ["apikey", "api-key"])
async def test_the_key_may_stand_in_other_headers(header: str) -> None:
    async with front() as it:
        it.told.answers["AdmitChat"] = Refusal(reasons.KUDOS_UPFRONT, "x")
        await it.client.post(PATH, json=body(), headers={header: "k" * 22})
        assert it.told.last("AdmitChat").caller.api_key == "k" * 22


async def test_a_call_without_a_key_is_401_after_its_body_was_checked() -> None:
    async with front() as it:
        bare = await it.client.post(PATH, json=body())
        empty = await it.client.post(PATH, json=body(), headers={"authorization": "Bearer"})
        wrong = await it.client.post(PATH, json=body(messages=[]))
    assert error_of(bare)["code"] == error_of(empty)["code"] == "invalid_api_key"
    assert (bare.status_code, empty.status_code, wrong.status_code) == (401, 401, 400)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b'{"a":1,"a":2}',
        b'{"temperature":NaN}',
        b"\xff",
        b'{"messages":' + b"[" * 200,
        b"null",
    ],
)
async def test_a_body_that_is_no_json_object_is_a_400(content: bytes) -> None:
    async with front() as it:
        response = await it.client.post(PATH, content=content, headers=ANONYMOUS)
    assert response.status_code == 400
    assert error_of(response)["type"] == "invalid_request_error"


async def test_a_body_over_the_cap_is_413() -> None:
    async with front() as it:
        response = await it.client.post(PATH, content=b"x" * (36 * 1024 * 1024 + 1), headers=ANONYMOUS)
    assert (response.status_code, error_of(response)["code"]) == (413, "request_too_large")


async def test_unknown_addresses_and_methods_are_openai_errors() -> None:
    async with front() as it:
        unknown = await it.client.get("/v1/embeddings")
        method = await it.client.get(PATH)
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "unknown_url")
    assert method.status_code == 405
    assert method.headers["allow"] == "POST"


async def test_models_are_cards_under_both_spellings() -> None:
    async with front() as it:
        listed = await it.client.get("/v1/models")
        plain = await it.client.get(f"/v1/models/{MODEL}")
        encoded = await it.client.get(f"/v1/models/{MODEL.replace('/', '%2F')}")
        missing = await it.client.get("/v1/models/no/such")
        stranger = await it.client.get("/v1/models", headers={"authorization": "Bearer wrong"})
    card = listed.json()["data"][0]
    assert listed.json()["object"] == "list"
    assert card == plain.json() == encoded.json()
    assert (card["id"], card["object"], card["created"], card["owned_by"]) == (MODEL, "model", CREATED, "ai-horde")
    assert card["horde"]["features"] == ["seed", "tools"]
    assert (error_of(missing)["code"], error_of(missing)["param"]) == ("model_not_found", "model")
    assert stranger.status_code == 401


async def test_a_request_id_of_the_client_comes_back() -> None:
    async with front() as it:
        response = await it.client.get("/v1/models", headers={"x-request-id": "my-id.1"})
    assert response.headers["x-request-id"] == "my-id.1"


async def test_limits_have_openais_names(redis_url: str) -> None:
    async with front(redis_url=redis_url, rate_limits_enabled=True) as it:
        it.told.answers["AdmitChat"] = Refusal(reasons.KUDOS_UPFRONT, "x")
        first = await it.plain()
        await it.plain()
        third = await it.plain()
    assert first.headers["x-ratelimit-limit-requests"] == "2"
    assert first.headers["x-ratelimit-remaining-requests"] == "1"
    assert "retry-after" not in first.headers
    assert (third.status_code, error_of(third)["code"]) == (429, "rate_limit_exceeded")
    assert third.headers["x-should-retry"] == "true"
    assert third.headers["retry-after"] == "1"
    assert third.headers["x-ratelimit-reset-requests"] == "1s"
