"""What operators can change of the front, and what load balancers ask it."""

import asyncio
import json
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fakes.front_client import ANONYMOUS, PATH, Reader, body, error_of, front
from tests.fakes.gateway_services import Desk
from tests.fakes.running_gateway import running


@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_health_and_ready_are_answered_without_a_key(prefix: str) -> None:
    async with front() as it:
        for path in ("/health", "/ready"):
            answer = await it.client.get(prefix + path)
            assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_gateway_that_cannot_reach_a_service_lives_and_is_not_ready() -> None:
    async with running(dispatch_target="127.0.0.1:1") as gateway:
        assert (await gateway.client.get("/health")).status_code == 200
        answer = await gateway.client.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "away": ["dispatch"]})


async def test_a_gateway_that_leaves_is_not_ready() -> None:
    async with running(Desk()) as gateway:
        gateway.stopping.set()
        answer = await gateway.client.get("/ready")
        assert (answer.status_code, answer.json()["away"]) == (503, ["gateway"])


async def test_the_bare_prefix_is_an_unknown_url_of_the_front() -> None:
    async with front() as it:
        answer = await it.client.get("/v1")
    assert (answer.status_code, error_of(answer)["code"]) == (404, "unknown_url")


async def test_the_limits_headers_may_be_read_by_pages() -> None:
    async with front() as it:
        exposed = (await it.client.get("/v1/models")).headers["access-control-expose-headers"].lower()
    for name in ("x-ratelimit-remaining-requests", "retry-after-ms", "x-request-id", "x-horde-request-id"):
        assert name in exposed


async def test_a_failed_stream_may_be_closed_in_order_behind_its_error() -> None:
    async with front(front_error_close="done") as it, it.stream() as response:
        reader = Reader(response)
        it.told.post(1, "Be")
        await reader.text("Be")
        it.told.fault("No.", "ChatWorkerFault")
        streamed = await reader.rest()
    assert streamed.error["code"] == "generation_failed"
    assert streamed.is_done
    assert not streamed.is_cut


async def test_an_operator_may_have_every_repeat_queued() -> None:
    sdk = {"x-stainless-lang": "python", "x-stainless-retry-count": "0"}
    async with front(front_attach_retries=False, front_abandoned_seconds=5) as it:
        with pytest.raises(httpx.ReadTimeout):
            await it.client.post(PATH, json=body(), headers=ANONYMOUS | sdk, timeout=0.3)
        again = asyncio.create_task(it.plain(sdk | {"x-stainless-retry-count": "1"}))
        await it.told.asked_for("WatchRequest", 2)
        it.told.store("a second one")
        assert (await again).status_code == 200
        assert it.told.count("AdmitChat") == 2


async def test_a_client_that_does_not_read_is_given_up_and_its_request_cancelled() -> None:
    async with front(front_stream_budget_seconds=0.3, front_stalled_seconds=0.3) as it:
        address = urlsplit(str(it.client.base_url))
        sent = json.dumps(body(stream=True)).encode()
        # far less than what is posted fits between the two
        reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1024)
        writer.write(
            b"POST %s HTTP/1.1\r\nhost: front\r\nauthorization: Bearer 0000000000\r\n"
            b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (PATH.encode(), len(sent), sent)
        )
        await it.told.asked_for("WatchRequest")
        for seq in range(1, 41):
            it.told.post(seq, "x" * 1_000_000)
        await it.told.asked_for("CancelRequest")
        writer.close()
        assert reader is not None
