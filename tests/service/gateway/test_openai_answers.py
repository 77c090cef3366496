"""Answers and refusals under /v1."""

import asyncio
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.front_client import ANONYMOUS, PATH, Reader, body, error_of, front
from tests.fakes.told_request import CREATED, MODEL


async def test_a_plain_completion_has_openais_shape() -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain(temperature=0.5, max_tokens=64))
        await it.told.asked_for("GetStatus")
        it.told.store("Hi!", prompt_tokens=11, completion_tokens=2, native_finish_reason="eos")
        response = await asking
    assert response.status_code == 200
    assert response.headers["x-horde-request-id"] == it.told.request_id
    assert response.headers["x-should-retry"] == "false"
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


async def test_a_lost_signal_only_delays_the_reply() -> None:
    async with front() as it:
        it.told.is_deaf = True
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.store("late", signal=False)
        response = await asking
    assert response.json()["choices"][0]["message"]["content"] == "late"


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


def counted(code: str, status: int, stage: str) -> float:
    told = {"code": code, "status": str(status), "stage": stage}
    return REGISTRY.get_sample_value("horde_oai_errors_total", told) or 0.0


@pytest.mark.parametrize(
    ("call", "code", "status"),
    [
        ({"method": "GET", "url": "/v1/embeddings"}, "unknown_url", 404),
        ({"method": "GET", "url": PATH}, "method_not_allowed", 405),
        (
            {"method": "POST", "url": PATH, "content": b"x", "headers": {"content-type": "text/plain"}},
            "unsupported_media_type",
            415,
        ),
        ({"method": "POST", "url": PATH, "content": b"{"}, "invalid_value", 400),
        ({"method": "POST", "url": PATH, "json": body()}, "invalid_api_key", 401),
        ({"method": "GET", "url": "/v1/models/none"}, "model_not_found", 404),
    ],
)
async def test_each_error_is_counted_once(call: dict[str, Any], code: str, status: int) -> None:
    async with front() as it:
        before = counted(code, status, "pre")
        response = await it.client.request(**call)
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert counted(code, status, "pre") == before + 1


async def test_a_bug_is_counted_once_where_it_is_told() -> None:
    before = [counted("internal_error", 500, stage) for stage in ("pre", "stream")]
    async with front() as it:
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus")
        it.told.store("x", message=b"no JSON")
        assert (await asking).status_code == 500
        after_one = [counted("internal_error", 500, stage) for stage in ("pre", "stream")]
        async with it.stream() as response:
            reader = Reader(response)
            it.told.post(1, "Be")
            await reader.text("Be")
            it.told.store("Be", message=b"no JSON")
            assert (await reader.rest()).error["code"] == "internal_error"
    assert after_one == [before[0] + 1, before[1]]
    assert [counted("internal_error", 500, stage) for stage in ("pre", "stream")] == [before[0] + 1, before[1] + 1]


async def test_a_stream_that_was_accepted_is_not_to_be_sent_again() -> None:
    async with front() as it, it.stream() as response:
        it.told.store("Hi!")
        await Reader(response).rest()
    assert response.status_code == 200
    assert response.headers["x-should-retry"] == "false"
