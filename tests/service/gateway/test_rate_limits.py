"""Who spends whose budget: chat submits by address, forwarded address, key, and by whom the horde trusts."""

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import status_pb2
from tests.fakes.gateway_services import Desk
from tests.fakes.running_gateway import Gateway, running

CHAT = "/v2/generate/chat/async"
KNOWN = hashlib.sha256(b"open").digest()


def desk(*, favours: bool = False) -> Desk:
    """Services that queue everything, and know one passkey."""
    queued = admission.AdmitChatResponse(
        outcome=admission.ADMIT_OUTCOME_QUEUED, request_id="r", favours_address=favours
    )
    return Desk(
        answers={
            "AdmitChat": queued,
            "ListProxyPasskeys": admission.ListProxyPasskeysResponse(passkey_hashes=[KNOWN]),
            "GetStatus": dispatch.GetStatusResponse(status=status_pb2.RequestStatus()),
        }
    )


def limited(redis_url: str, **settings: Any) -> dict[str, Any]:
    """Settings of a gateway that counts, three chat submits a minute for each address."""
    return {
        "redis_url": redis_url,
        "rate_limits_enabled": True,
        "chat_request_2sec_limit_per_ip": "1000/second",
        "chat_request_90min_limit_per_ip": "3/minute",
        **settings,
    }


async def statuses(gateway: Gateway, times: int, **headers: str) -> list[int]:
    """The statuses of so many submits, in order."""
    sent = {"apikey": "0000000000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return [(await gateway.client.post(CHAT, content=b"{}", headers=sent)).status_code for _ in range(times)]


async def test_clients_behind_one_address_share_its_budget_and_other_routes_have_their_own(redis_url: str) -> None:
    async with running(desk(), **limited(redis_url)) as gateway:
        assert await statuses(gateway, 2) == [202, 202]
        assert await statuses(gateway, 2, proxied_for="198.51.100.1") == [202, 429]
        refused = await gateway.client.post(CHAT, content=b"{}", headers={"apikey": "0000000000"})
        assert refused.json() == {"message": "3 per 1 minute"}
        assert int(refused.headers["retry-after"]) > 0
        front = await gateway.client.post("/v1/chat/completions", content=b"{", headers={"apikey": "0000000000"})
        assert front.status_code == 400


async def test_beside_a_known_passkey_each_forwarded_address_has_a_budget(redis_url: str) -> None:
    async with running(desk(), **limited(redis_url)) as gateway:
        for address in ("198.51.100.1", "198.51.100.2"):
            known = {"proxied_for": address, "proxy_authorization": "open"}
            assert await statuses(gateway, 4, **known) == [202, 202, 202, 429]
        assert [asked for asked, _ in gateway.desk.asked].count("ListProxyPasskeys") == 1
        guessed = {"proxied_for": "198.51.100.3", "proxy_authorization": "shut"}
        assert await statuses(gateway, 4, **guessed) == [202, 202, 202, 429]
        assert await statuses(gateway, 1, proxied_for="no address", proxy_authorization="open") == [429]


async def test_without_admission_a_passkey_counts_for_nothing_and_nothing_fails(redis_url: str) -> None:
    away = desk()
    del away.answers["ListProxyPasskeys"]
    async with running(away, **limited(redis_url)) as gateway:
        known = {"proxied_for": "198.51.100.1", "proxy_authorization": "open"}
        assert await statuses(gateway, 4, **known) == [202, 202, 202, 429]
        assert await statuses(gateway, 1) == [429]


async def test_workers_are_counted_by_their_own_address_whatever_they_forward(redis_url: str) -> None:
    async with running(desk(), **limited(redis_url)) as gateway:
        left = [
            (
                await gateway.client.post(
                    "/v2/generate/text/pop",
                    content=b"{}",
                    headers={"Proxied-For": address, "Proxy-Authorization": "open"},
                )
            ).headers["x-ratelimit-limit"]
            for address in ("198.51.100.1", "198.51.100.2")
        ]
        assert left == ["60", "60"]
        keys = [key async for key in _keys(redis_url) if b"/text/pop" in key]
        assert len(keys) == 1
        assert b"127.0.0.1" in keys[0]


async def test_a_trusted_submitters_address_gets_the_higher_limits(redis_url: str) -> None:
    async with running(desk(favours=True), **limited(redis_url, chat_request_2sec_limit_per_ip="1/second")) as gateway:
        key = {"apikey": "k" * 22}
        assert await statuses(gateway, 1, **key) == [202]
        # The limits are 10 a second and 300 a minute now, and 60 a second for the key.
        assert await statuses(gateway, 6, **key) == [202] * 6


@pytest.mark.parametrize("service", ["212.227.227.178", "5.189.169.230"])
async def test_the_references_services_are_whitelisted_unless_others_are_named(redis_url: str, service: str) -> None:
    forwarded = {"x-forwarded-for": service}
    async with running(desk(), **limited(redis_url), proxy_trusted_hops=1) as gateway:
        assert await statuses(gateway, 5, **forwarded) == [202] * 5
    async with running(
        desk(), **limited(redis_url), proxy_trusted_hops=1, rate_limit_whitelist=("127.0.0.1",)
    ) as gateway:
        assert 429 in await statuses(gateway, 6, **forwarded)


async def test_a_whitelisted_service_gets_the_text_routes_limits_and_no_more_for_a_key(redis_url: str) -> None:
    settings = limited(redis_url, rate_limit_whitelist=("127.0.0.1",))
    async with running(desk(), **settings) as gateway:
        assert await statuses(gateway, 5) == [202] * 5
        key = {"apikey": "k" * 22}
        assert 429 in await statuses(gateway, 5, **key)


async def test_each_request_id_has_a_status_budget(redis_url: str) -> None:
    async with running(desk(), **limited(redis_url)) as gateway:
        left = [
            (await gateway.client.get(f"/v2/generate/chat/status/{name}")).headers["x-ratelimit-remaining"]
            for name in ("a", "a", "b")
        ]
        assert left == ["59", "58", "59"]


async def _keys(redis_url: str) -> AsyncIterator[bytes]:
    """The counters that there are."""
    async with Redis.from_url(redis_url) as redis:
        async for key in redis.scan_iter("horde:ratelimit:*"):
            yield key


async def test_horde_test_ratelimit_disabled_turns_everything_off(redis_url: str) -> None:
    async with running(desk(), **limited(redis_url, test_ratelimit_disabled=True)) as gateway:
        assert await statuses(gateway, 6) == [202] * 6


async def test_without_redis_the_limits_hold_in_this_process_alone() -> None:
    async with running(desk(), **limited("redis://127.0.0.1:1/0")) as gateway:
        assert await statuses(gateway, 4) == [202, 202, 202, 429]
        assert REGISTRY.get_sample_value("horde_ratelimit_alone") == 1
        refused = await gateway.client.post(CHAT, content=b"{}", headers={"apikey": "0000000000"})
        assert refused.json()["message"] == "3 per 1 minute"
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert refused.headers["x-ratelimit-remaining"] == "0"


async def test_refusals_are_counted_by_code_status_route_and_method() -> None:
    async with running(desk(), **limited("redis://127.0.0.1:1/0")) as gateway:
        labels = {"http_route": CHAT, "http_request_method": "POST"}
        limits = {"rc": "RateLimitExceeded", "http_response_status_code": "429", **labels}
        missing = {"rc": "BadRequest", "http_response_status_code": "400", **labels}
        strange = {
            "rc": "Unlisted",
            "http_response_status_code": "404",
            "http_route": "unmatched",
            "http_request_method": "OTHER",
        }
        before = [_rejections(one) for one in (limits, missing, strange)]
        await gateway.client.post(CHAT, content=b"{}")
        await statuses(gateway, 3)
        await gateway.client.request("PROPFIND", "/nowhere")
        assert [_rejections(one) - was for one, was in zip((limits, missing, strange), before, strict=True)] == [
            1,
            1,
            1,
        ]


def _rejections(labels: dict[str, str]) -> float:
    return REGISTRY.get_sample_value("horde_api_rejections_total", labels) or 0.0
