"""A call whose connection broke is repeated through another gateway: it finds its request, which nobody cancels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from tests.fakes.front_client import ANONYMOUS, PATH, Front, body
from tests.fakes.patience import until
from tests.fakes.running_gateway import running
from tests.fakes.told_request import ToldRequest

SDK = {"x-stainless-lang": "python", "x-stainless-retry-count": "0"}
RETRY = SDK | {"x-stainless-retry-count": "1"}
GRACE = 1.5
"""Seconds: longer than a busy machine stops between two steps of a test."""


@asynccontextmanager
async def two(redis_url: str, **settings: Any) -> AsyncIterator[tuple[Front, Front]]:
    """Two gateways before the same services and on the same Redis."""
    told = ToldRequest()
    chosen = {"redis_url": redis_url, "front_abandoned_seconds": GRACE, **settings}
    async with running(told, **chosen) as one, running(told, **chosen) as other:
        yield Front(one.client, told), Front(other.client, told)


async def broken(front: Front, headers: dict[str, str], redis_url: str = "") -> None:
    """A call whose client is gone before its answer, as every gateway can know."""
    with pytest.raises(httpx.ReadTimeout):
        await front.client.post(PATH, json=body(), headers=ANONYMOUS | headers, timeout=0.3)
    if redis_url:
        await noted(redis_url, f"horde:front:orphan:{front.told.request_id}")


async def noted(redis_url: str, key: str, members: int | None = None) -> None:
    """Waits until every gateway can find the key, with so many members."""
    async with Redis.from_url(redis_url) as redis:

        async def found() -> bool:
            return bool(await redis.exists(key)) if members is None else await redis.scard(key) == members

        await until(found)


async def one_call_of_both(gateways: tuple[Front, Front], redis_url: str) -> "list[asyncio.Task[httpx.Response]]":
    """One call with one Idempotency-Key, under way in both gateways."""
    told, calls = gateways[0].told, []
    for number, gateway in enumerate(gateways, start=1):
        calls.append(asyncio.create_task(gateway.plain({"idempotency-key": "k"})))
        await told.asked_for("WatchRequest", number)
    await noted(redis_url, f"horde:front:waiting:{told.request_id}", members=2)
    return calls


async def leaves(call: "asyncio.Task[httpx.Response]") -> None:
    """The client of a call that is under way goes away."""
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


@pytest.mark.parametrize(
    ("first", "again", "submits"),
    [
        pytest.param(SDK, RETRY, 1, id="an SDK's own retry attaches"),
        # admission knows the key, and answers with the first request
        pytest.param({"idempotency-key": "k"}, {"idempotency-key": "k"}, 2, id="an Idempotency-Key"),
    ],
)
async def test_a_repeated_call_finds_its_request_through_another_gateway(
    redis_url: str, first: dict[str, str], again: dict[str, str], submits: int
) -> None:
    async with two(redis_url) as (one, other):
        await broken(one, first, redis_url)
        asking = asyncio.create_task(other.plain(again))
        await other.told.asked_for("WatchRequest", 2)
        await asyncio.sleep(2 * GRACE)  # the first gateway would have given it up by now
        other.told.store("for you")
        response = await asking
        assert response.json()["choices"][0]["message"]["content"] == "for you"
        assert (other.told.count("AdmitChat"), other.told.count("CancelRequest")) == (submits, 0)


async def test_a_client_that_leaves_the_second_gateway_too_is_cancelled_once(redis_url: str) -> None:
    async with two(redis_url) as (one, other):
        await broken(one, SDK, redis_url)
        await broken(other, RETRY, redis_url)
        await other.told.asked_for("CancelRequest")
        await asyncio.sleep(GRACE)
        assert other.told.count("CancelRequest") == 1


async def test_a_client_that_comes_back_nowhere_is_cancelled_after_the_grace(redis_url: str) -> None:
    async with two(redis_url) as (one, _):
        await broken(one, SDK, redis_url)
        assert one.told.count("CancelRequest") == 0
        await one.told.asked_for("CancelRequest")


@pytest.mark.parametrize("first_to_leave", [0, 1])
async def test_one_key_in_two_gateways_is_not_cancelled_while_a_client_of_either_waits(
    redis_url: str, first_to_leave: int
) -> None:
    async with two(redis_url) as gateways:
        told = gateways[0].told
        calls = await one_call_of_both(gateways, redis_url)
        await leaves(calls[first_to_leave])
        await asyncio.sleep(2 * GRACE)
        assert told.count("CancelRequest") == 0
        told.store("for you")
        response = await calls[1 - first_to_leave]
        assert response.json()["choices"][0]["message"]["content"] == "for you"


@pytest.mark.parametrize("pause", [0, GRACE / 2])
async def test_one_key_in_two_gateways_is_cancelled_once_when_both_clients_are_gone(
    redis_url: str, pause: float
) -> None:
    async with two(redis_url) as gateways:
        told = gateways[0].told
        calls = await one_call_of_both(gateways, redis_url)
        for call in calls:
            await leaves(call)
            await asyncio.sleep(pause)
        await told.asked_for("CancelRequest")
        await asyncio.sleep(2 * GRACE)
        assert told.count("CancelRequest") == 1


async def test_a_retry_in_the_same_gateway_keeps_the_request_from_the_other(redis_url: str) -> None:
    async with two(redis_url) as (one, other):
        await broken(one, SDK, redis_url)
        asking = asyncio.create_task(one.plain(RETRY))
        await one.told.asked_for("WatchRequest", 2)
        await asyncio.sleep(0.1)
        late = asyncio.create_task(other.plain(RETRY))
        await other.told.asked_for("AdmitChat", 2)
        one.told.store("for you")
        assert (await asking).status_code == 200
        assert (await late).status_code == 200
        assert one.told.count("CancelRequest") == 0


async def test_a_gateway_that_ends_leaves_the_request_to_the_next_one(redis_url: str) -> None:
    told = ToldRequest()
    chosen: dict[str, Any] = {"redis_url": redis_url, "front_abandoned_seconds": 30}
    async with running(told, **chosen) as one:
        await broken(Front(one.client, told), SDK, redis_url)
    async with running(told, **chosen) as other:
        asking = asyncio.create_task(Front(other.client, told).plain(RETRY))
        await told.asked_for("WatchRequest", 2)
        told.store("for you")
        assert (await asking).json()["choices"][0]["message"]["content"] == "for you"
    assert (told.count("AdmitChat"), told.count("CancelRequest")) == (1, 0)


async def test_without_redis_the_retry_is_a_second_request_and_the_first_is_cancelled() -> None:
    async with two("redis://127.0.0.1:1/0", redis_timeout_seconds=0.2) as (one, other):
        await broken(one, SDK)
        asking = asyncio.create_task(other.plain(RETRY))
        await other.told.asked_for("AdmitChat", 2)
        await one.told.asked_for("CancelRequest")
        other.told.store("for you")
        assert (await asking).status_code == 200
