"""How long a call to /v1 waits, and what becomes of its request when it ends badly."""

import asyncio
import json

import httpx
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1.dispatch_service_pb2 import GetStatusResponse
from services.gateway.openai import following
from tests.fakes.front_client import ANONYMOUS, PATH, body, error_of, front, read

SDK = {"x-stainless-lang": "python", "x-stainless-retry-count": "0"}


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


@pytest.mark.parametrize("during", ["the subscription", "a look"])
async def test_a_client_that_leaves_is_noticed_whatever_is_waited_for(
    during: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SUBSCRIBE_SECONDS", "_LOOK_SECONDS", "_LONGEST_LOOK_SECONDS"):
        monkeypatch.setattr(following, name, 3600.0)
    looking = asyncio.Event()
    async with front() as it:

        async def status(_: object) -> GetStatusResponse:
            await looking.wait()
            return GetStatusResponse(status=it.told.status)

        it.told.is_deaf = during == "the subscription"
        it.told.answers["GetStatus"] = status
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS, timeout=0.3)
        await asyncio.sleep(0.2)
        looking.set()
        await it.told.asked_for("CancelRequest")


async def test_a_client_that_may_come_back_finds_its_request() -> None:
    async with front(front_abandoned_seconds=5) as it:
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS | SDK, timeout=0.3)
        again = asyncio.create_task(it.plain(SDK | {"x-stainless-retry-count": "1"}))
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


@pytest.mark.parametrize("stream", [False, True])
async def test_a_retry_of_a_reply_that_did_not_arrive_gets_it_again(stream: bool) -> None:
    async with front() as it:
        asking = asyncio.create_task(it.plain(SDK, stream=stream))
        await it.told.asked_for("WatchRequest")
        it.told.store("sent once")
        first = await asking
        again = await it.plain(SDK | {"x-stainless-retry-count": "1"}, stream=stream)
        assert "sent once" in again.text
        assert again.headers["x-horde-request-id"] == first.headers["x-horde-request-id"]
        assert (it.told.count("AdmitChat"), it.told.count("CancelRequest")) == (1, 0)


async def test_the_same_words_said_again_and_a_retry_of_an_error_are_new_requests() -> None:
    async with front() as it:
        for number, (headers, ends_well) in enumerate(
            ((SDK, True), (SDK, False), (SDK | {"x-stainless-retry-count": "1"}, True)), start=1
        ):
            asking = asyncio.create_task(it.plain(headers))
            await it.told.asked_for("WatchRequest", number)
            if ends_well:
                it.told.store(f"reply {number}")
            else:
                it.told.fault("No.", "ChatSubmitNonconformant")
            assert (await asking).status_code == (200 if ends_well else 502)
        assert it.told.count("AdmitChat") == 3


async def test_an_idempotency_key_becomes_the_same_operation_key_each_time() -> None:
    keys = []
    async with front() as it:
        for number in (1, 2):
            asking = asyncio.create_task(it.plain({"idempotency-key": "one"}))
            await it.told.asked_for("WatchRequest", number)
            it.told.store("x")
            await asking
            keys.append(it.told.submitted()["horde"]["operation_key"])
        clash = await it.plain(
            {"idempotency-key": "one"}, horde={"operation_key": "6f1c1f2e-8d0b-5c57-9a34-3d6a0a4c7e12"}
        )
    assert keys[0] == keys[1]
    assert error_of(clash)["code"] == "conflicting_parameters"


async def test_the_budget_ends_in_504_and_cancels() -> None:
    async with front(front_stream_budget_seconds=1) as it:
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
