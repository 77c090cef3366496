"""What moderators keep out, and how it is seen: single addresses, networks, the addresses of workers."""

import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.rpc.client import NeighbourUnavailable
from horde.store.listening import ADDRESS_STANDINGS
from horde_pb.moderation.v1 import addresses_pb2 as pb
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from tests.fakes.patience import until
from tests.service.moderation.conftest import MODERATOR

HOUR = 3600


@pytest.fixture
async def key(moderation: Any) -> str:
    """A moderator's key."""
    made: str = await moderation.account("mod", MODERATOR)
    return made


async def block(moderation: Any, key: str, address: str, hours: int = 1) -> None:
    ask = pb.BlockAddressRequest(caller=Caller(api_key=key), address=address, hours=hours)
    await moderation.call(moderation.addresses.BlockAddress, ask)


async def unblock(moderation: Any, key: str, address: str) -> None:
    ask = pb.UnblockAddressRequest(caller=Caller(api_key=key), address=address)
    await moderation.call(moderation.addresses.UnblockAddress, ask)


async def blocks(moderation: Any, key: str) -> list[tuple[str, int]]:
    ask = pb.ListAddressBlocksRequest(caller=Caller(api_key=key))
    answer = await moderation.call(moderation.addresses.ListAddressBlocks, ask)
    return [(one.address, one.seconds) for one in answer.blocks]


async def timeouts(moderation: Any, key: str, address: str) -> list[tuple[str, int]]:
    ask = pb.GetAddressTimeoutsRequest(caller=Caller(api_key=key), address=address)
    answer = await moderation.call(moderation.addresses.GetAddressTimeouts, ask)
    return [(one.address, one.seconds) for one in answer.timeouts]


async def block_worker(moderation: Any, key: str, worker: object, days: int = 1) -> bool:
    ask = pb.BlockWorkerAddressRequest(caller=Caller(api_key=key), worker_id=str(worker), days=days)
    return bool((await moderation.call(moderation.addresses.BlockWorkerAddress, ask)).blocked)


async def unblock_worker(moderation: Any, key: str, worker: object) -> None:
    ask = pb.UnblockWorkerAddressRequest(caller=Caller(api_key=key), worker_id=str(worker))
    await moderation.call(moderation.addresses.UnblockWorkerAddress, ask)


async def worker_at(moderation: Any, address: str | None) -> uuid.UUID:
    made: uuid.UUID = await moderation.owner.fetchval(
        "INSERT INTO dispatch.workers (id, worker_type, user_id, name, ipaddr, created, last_check_in, speed) "
        "VALUES (gen_random_uuid(), 'text_worker', 1, $1, $2, now(), now(), 1) RETURNING id",
        f"worker at {address}",
        address,
    )
    return made


async def refused(call: Any) -> Any:
    with pytest.raises(Refusal) as no:
        await call
    return no.value.reason


async def test_a_single_address_is_out_with_its_subject_and_is_not_among_the_blocks(moderation: Any, key: str) -> None:
    await block(moderation, key, "9.8.7.6", hours=2)
    await block(moderation, key, "2001:db8::1")
    assert await moderation.seconds_left("9.8.7.6") == 2 * HOUR
    assert await moderation.seconds_left("::ffff:9.8.7.6") == 2 * HOUR
    assert await moderation.seconds_left("2001:db8::ffff:2") == HOUR
    assert await moderation.seconds_left("9.8.7.5") == 0
    assert await blocks(moderation, key) == []
    assert await timeouts(moderation, key, "9.8.7.6") == [("9.8.7.6", 2 * HOUR)]
    assert await timeouts(moderation, key, "2001:db8::9") == [("2001:db8::/64", HOUR)]


async def test_with_a_slash_a_network_is_blocked_and_listed(moderation: Any, key: str) -> None:
    await block(moderation, key, "9.8.0.0/16", hours=720)
    await block(moderation, key, "2001:db8::/32")
    await block(moderation, key, "1.2.3.4/32")
    assert await moderation.seconds_left("9.8.7.6") == 720 * HOUR
    assert await moderation.seconds_left("2001:db8:ffff::1") == HOUR
    assert await blocks(moderation, key) == [
        ("1.2.3.4/32", HOUR), ("2001:db8::/32", HOUR), ("9.8.0.0/16", 720 * HOUR),
    ]  # fmt: skip
    moderation.clock.advance(timedelta(seconds=HOUR))
    assert await blocks(moderation, key) == [("9.8.0.0/16", 719 * HOUR)]


async def test_an_address_shows_the_blocks_around_it_and_its_own_timeout(moderation: Any, key: str) -> None:
    await block(moderation, key, "9.8.0.0/16", hours=3)
    await block(moderation, key, "9.8.7.0/24", hours=2)
    await block(moderation, key, "9.8.7.6", hours=1)
    own = ("9.8.7.6", HOUR)
    narrow, wide = ("9.8.7.0/24", 2 * HOUR), ("9.8.0.0/16", 3 * HOUR)
    assert await timeouts(moderation, key, "9.8.7.6") == [narrow, wide, own]
    assert await timeouts(moderation, key, "9.8.6.1") == [wide]
    assert await timeouts(moderation, key, "9.8.7.0/28") == [narrow, wide]
    assert await timeouts(moderation, key, "9.0.0.0/8") == []


async def test_a_network_of_addresses_inside_ipv6_is_that_of_the_addresses(moderation: Any, key: str) -> None:
    await block(moderation, key, "::ffff:9.8.7.0/120")
    assert await blocks(moderation, key) == [("9.8.7.0/24", HOUR)]
    assert await moderation.seconds_left("9.8.7.6") == HOUR


async def test_unblocking_lets_in_again_and_forgives_a_single_address(moderation: Any, key: str) -> None:
    await block(moderation, key, "9.8.0.0/16")
    await unblock(moderation, key, "9.8.0.0/16")
    assert await blocks(moderation, key) == []
    await moderation.deps.addresses.report_suspicion("9.8.7.6")
    await unblock(moderation, key, "9.8.7.6")
    assert await moderation.seconds_left("9.8.7.6") == 0
    assert await moderation.deps.addresses.report_suspicion("9.8.7.6") == timedelta(minutes=3)
    await unblock(moderation, key, "7.7.7.7")
    await unblock(moderation, key, "7.7.0.0/16")


async def test_a_subject_of_ipv6_is_seen_and_let_in_as_the_network_that_it_is(moderation: Any, key: str) -> None:
    await moderation.deps.addresses.report_suspicion("2001:db8::/64")
    await block(moderation, key, "2001:db8::/64", hours=2)
    assert await timeouts(moderation, key, "2001:db8::/64") == [("2001:db8::/64", 2 * HOUR), ("2001:db8::/64", 180)]
    await unblock(moderation, key, "2001:db8::/64")
    assert await moderation.seconds_left("2001:db8::1") == 0
    assert await moderation.deps.addresses.report_suspicion("2001:db8::/64") == timedelta(minutes=3)


async def test_a_moderators_hours_hold_whatever_held_before(moderation: Any, key: str) -> None:
    await block(moderation, key, "9.8.7.6", hours=700)
    await block(moderation, key, "9.8.7.6", hours=1)
    assert await moderation.seconds_left("9.8.7.6") == HOUR


@pytest.mark.parametrize(
    "wrong",
    [
        "1.2.3.4/24",
        "1.2.3.4/33",
        "1.2.3.0/-1",
        "1.2.3",
        "nowhere",
        "1.2.3.4,5.6.7.8",
        "2001:db8::/129",
        "2001:db8::1/64",
    ],
)
async def test_what_is_no_address_is_told_before_the_key_is_looked_at(moderation: Any, wrong: str) -> None:
    for call in (block, unblock, timeouts):
        assert await refused(call(moderation, "nobody's key", wrong)) is reasons.BAD_REQUEST


async def test_only_moderators_see_and_block_addresses(moderation: Any) -> None:
    stranger = await moderation.account("anybody")
    worker = await worker_at(moderation, "9.8.7.6")
    for whose, reason in ((stranger, reasons.NOT_MODERATOR), ("nobody's", reasons.INVALID_API_KEY)):
        for call in (
            block(moderation, whose, "9.8.7.6"),
            unblock(moderation, whose, "9.8.7.6"),
            timeouts(moderation, whose, "9.8.7.6"),
            blocks(moderation, whose),
            block_worker(moderation, whose, worker),
            unblock_worker(moderation, whose, uuid.uuid4()),
        ):
            assert await refused(call) is reason
    assert await moderation.seconds_left("9.8.7.6") == 0


async def test_the_address_of_a_worker_is_kept_out_and_let_in_again(moderation: Any, key: str) -> None:
    worker = await worker_at(moderation, "9.8.7.6")
    assert await block_worker(moderation, key, worker, days=2)
    assert await moderation.seconds_left("9.8.7.6") == 48 * HOUR
    assert await blocks(moderation, key) == []
    await unblock_worker(moderation, key, worker)
    assert await moderation.seconds_left("9.8.7.6") == 0


async def test_the_64_of_a_worker_on_ipv6_is_a_block(moderation: Any, key: str) -> None:
    worker = await worker_at(moderation, "2001:db8::5")
    assert await block_worker(moderation, key, worker, days=30)
    assert await blocks(moderation, key) == [("2001:db8::/64", 720 * HOUR)]
    assert await moderation.seconds_left("2001:db8::77") == 720 * HOUR
    await moderation.deps.addresses.report_suspicion("2001:db8::/64")
    await unblock_worker(moderation, key, worker)
    assert await blocks(moderation, key) == []
    assert await moderation.seconds_left("2001:db8::77") == 0


@pytest.mark.parametrize("origin", [None, "unknown", "1.2.3.4, 5.6.7.8"])
async def test_a_worker_without_an_address_is_not_blocked_and_that_is_told(
    moderation: Any, key: str, origin: str | None
) -> None:
    worker = await worker_at(moderation, origin)
    assert not await block_worker(moderation, key, worker)
    await unblock_worker(moderation, key, worker)
    assert [one async for one in moderation.live.redis.scan_iter("horde:moderation:*")] == []


@pytest.mark.parametrize("wanted", ["", "nobody", "00000000-0000-0000-0000-000000000000"])
async def test_a_worker_that_does_not_exist_is_not_found(moderation: Any, key: str, wanted: str) -> None:
    assert await refused(block_worker(moderation, key, wanted)) is reasons.WORKER_NOT_FOUND
    assert await refused(unblock_worker(moderation, key, wanted)) is reasons.WORKER_NOT_FOUND


async def test_without_redis_nobody_is_told_that_an_address_is_blocked(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]],
) -> None:
    async with serving_moderation("redis://127.0.0.1:1/0") as moderation:
        key = await moderation.account("mod", MODERATOR)
        for call in (block(moderation, key, "9.8.7.6"), unblock(moderation, key, "9.8.7.6"), blocks(moderation, key)):
            with pytest.raises(NeighbourUnavailable):
                await call


async def test_others_are_told_whenever_an_address_is_put_out_or_let_in(moderation: Any, key: str) -> None:
    heard: list[object] = []
    await moderation.owner.add_listener(ADDRESS_STANDINGS, lambda *told: heard.append(told))
    worker = await worker_at(moderation, "203.0.113.5")
    changes = (
        partial(block, moderation, key, "9.8.7.6"),
        partial(unblock, moderation, key, "9.8.7.6"),
        partial(block_worker, moderation, key, worker),
        partial(unblock_worker, moderation, key, worker),
    )
    for change in changes:
        heard.clear()
        await change()
        await until(lambda: bool(heard), 5)
