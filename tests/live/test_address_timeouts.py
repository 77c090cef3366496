"""Who is out and for how long, on a real Redis."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from horde.live import Key, Live
from horde.settings import RedisSettings
from services.moderation.live import (
    BLOCKS,
    MODEL_REJECTION_NOTICE,
    MODEL_REJECTIONS,
    PROXY_SUSPICION,
    SUSPICION,
    TIMEOUT,
    Addresses,
)
from services.moderation.rules.blocking import Network, around
from services.moderation.rules.timeouts import SERVICE_ADDRESS

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SUBJECT = "1.2.3.4"


@pytest.fixture
async def live(redis_url: str) -> AsyncIterator[Live]:
    async with Live.open(RedisSettings(redis_url=redis_url)) as opened:
        yield opened


async def test_each_report_puts_the_subject_out_for_longer(live: Live) -> None:
    addresses = Addresses(live)
    lengths = [await addresses.report_suspicion(SUBJECT) for _ in range(5)]
    assert lengths == [timedelta(minutes=minutes) for minutes in (3, 9, 15, 21, 27)]
    assert await addresses.seconds_left(SUBJECT, NOW) == 27 * 60
    assert await live.redis.ttl(SUSPICION(subject=SUBJECT)) > 24 * 3600 - 5


async def test_a_longer_timeout_is_never_shortened(live: Live) -> None:
    await live.redis.set(TIMEOUT(subject=SUBJECT), "1", ex=5000)
    await Addresses(live).report_suspicion(SUBJECT)
    assert await Addresses(live).seconds_left(SUBJECT, NOW) == 5000


async def test_every_address_of_a_64_is_out_with_its_subject(live: Live) -> None:
    addresses = Addresses(live)
    await addresses.report_suspicion("2001:db8::/64")
    assert await addresses.seconds_left("2001:db8::ffff:1", NOW) == 180
    assert await addresses.seconds_left("2001:db8:0:1::1", NOW) == 0
    assert await addresses.seconds_left("::ffff:1.2.3.4", NOW) == 0
    await addresses.report_suspicion(SUBJECT)
    assert await addresses.seconds_left("::ffff:1.2.3.4", NOW) == 180


@pytest.mark.parametrize(
    ("network", "inside", "outside"),
    [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
        ("10.1.2.3/32", "10.1.2.3", "10.1.2.4"),
        ("10.1.2.0/23", "10.1.3.255", "10.1.4.0"),
        ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
        ("2001:db8::/64", "2001:db8::9", "2001:db8:0:1::9"),
        ("2001:db8::8/125", "2001:db8::f", "2001:db8::10"),
    ],
)
async def test_a_blocked_network_keeps_out_what_lies_in_it(live: Live, network: str, inside: str, outside: str) -> None:
    addresses = Addresses(live)
    await addresses.block_network(network, until=NOW + timedelta(hours=2), now=NOW)
    assert await addresses.seconds_left(inside, NOW) == 7200
    assert await addresses.seconds_left(outside, NOW) == 0
    assert await addresses.seconds_left("unknown", NOW) == 0
    assert await addresses.seconds_left(inside, NOW + timedelta(hours=2)) == 0


async def test_an_hour_begun_within_a_second_is_told_as_an_hour(live: Live) -> None:
    addresses, began = Addresses(live), NOW + timedelta(milliseconds=400)
    await addresses.block_network("10.0.0.0/8", until=began + timedelta(hours=1), now=began)
    assert await addresses.seconds_left("10.1.2.3", began) == 3600
    assert [out.seconds for out in await addresses.blocks(began)] == [3600]
    assert await addresses.seconds_left("10.1.2.3", began + timedelta(hours=1)) == 0


async def test_the_longest_of_several_blocks_counts_and_ended_ones_are_forgotten(live: Live) -> None:
    addresses = Addresses(live)
    await addresses.block_network("10.0.0.0/8", until=NOW + timedelta(hours=3), now=NOW)
    await addresses.block_network("10.1.0.0/16", until=NOW + timedelta(hours=1), now=NOW)
    assert await addresses.seconds_left("10.1.2.3", NOW) == 3 * 3600
    await addresses.block_network("11.0.0.0/8", until=NOW + timedelta(hours=9), now=NOW + timedelta(hours=2))
    assert sorted(await live.redis.hkeys(BLOCKS())) == [b"10.0.0.0/8", b"11.0.0.0/8"]


async def test_model_rejections_are_counted_within_a_fixed_hour(live: Live) -> None:
    addresses = Addresses(live)
    key = MODEL_REJECTIONS(subject=SUBJECT)
    assert await addresses.count_model_rejection(SUBJECT) == 1
    await live.redis.expire(key, 100)
    assert await addresses.count_model_rejection(SUBJECT) == 2
    assert 0 < await live.redis.ttl(key) <= 100


def test_the_keys_are_declared_with_what_is_lost() -> None:
    assert {SUSPICION, TIMEOUT, BLOCKS, MODEL_REJECTIONS, MODEL_REJECTION_NOTICE, PROXY_SUSPICION} <= set(Key.all())


async def test_a_service_is_out_for_minutes_and_remembered_for_an_hour(live: Live) -> None:
    addresses = Addresses(live)
    lengths = [await addresses.report_suspicion(SUBJECT, SERVICE_ADDRESS) for _ in range(3)]
    assert lengths == [timedelta(minutes=minutes) for minutes in (3, 5, 5)]
    assert 3600 - 5 < await live.redis.ttl(SUSPICION(subject=SUBJECT)) <= 3600


async def test_moderators_are_told_of_a_subject_once_an_hour(live: Live) -> None:
    addresses = Addresses(live)
    assert await addresses.claim_model_rejection_notice(SUBJECT)
    assert not await addresses.claim_model_rejection_notice(SUBJECT)
    assert await addresses.claim_model_rejection_notice("5.6.7.8")
    assert 3600 - 5 < await live.redis.ttl(MODEL_REJECTION_NOTICE(subject=SUBJECT)) <= 3600


async def test_rejections_through_a_proxy_are_counted_apart_and_put_nobody_out(live: Live) -> None:
    addresses = Addresses(live)
    assert [await addresses.count_proxied_rejection(SUBJECT) for _ in range(2)] == [1, 2]
    assert await addresses.count_model_rejection(SUBJECT) == 1
    assert await addresses.seconds_left(SUBJECT, NOW) == 0
    assert 3600 - 5 < await live.redis.ttl(PROXY_SUSPICION(subject=SUBJECT)) <= 3600


async def test_no_look_up_searches_the_keys(live: Live) -> None:
    addresses = Addresses(live)
    await addresses.keep_out(Network("10.0.0.0/8"), timedelta(hours=1), NOW)
    await live.redis.config_resetstat()
    await addresses.seconds_left("10.1.2.3", NOW)
    await addresses.blocks(NOW)
    await addresses.standing(*around("10.1.2.3"), NOW)
    used = await live.redis.info("commandstats")
    assert {"cmdstat_hmget", "cmdstat_pttl", "cmdstat_hgetall"} <= set(used)
    assert not {"cmdstat_scan", "cmdstat_keys", "cmdstat_hscan"} & set(used)
