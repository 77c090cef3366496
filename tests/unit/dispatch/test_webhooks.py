"""The queue of calls to webhooks: 256 wait in a process, of so many bytes; what is too much is dropped and counted."""

import asyncio
from uuid import uuid4

import httpcore
import pytest
from prometheus_client import REGISTRY

from horde.contract.limits import WEBHOOK_QUEUE
from horde.public_web import PublicWeb
from services.dispatch.webhooks import Webhooks
from tests.fakes.internet import internet

MIB = 1024 * 1024


def dropped() -> float:
    return REGISTRY.get_sample_value("horde_webhook_outcomes_total", {"outcome": "dropped"}) or 0.0


async def called(webhooks: Webhooks) -> None:
    await asyncio.wait_for(webhooks._calls._queue.join(), 10)


async def nothing(_head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")


async def test_256_calls_wait_and_the_newest_beyond_are_dropped() -> None:
    webhooks, before = Webhooks(PublicWeb(())), dropped()
    for _ in range(300):
        webhooks.call("https://receiver.test/", uuid4(), b"{}")
    assert WEBHOOK_QUEUE == 256
    assert dropped() - before == 300 - 256
    await webhooks.drain(0)


async def test_replies_larger_than_the_process_keeps_are_dropped_until_others_have_gone() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    webhooks, before = Webhooks(PublicWeb((), resolve=resolve)), dropped()
    for _ in range(4):
        webhooks.call("https://receiver.test/", uuid4(), b"x" * 20 * MIB)
    assert dropped() - before == 1
    webhooks.start()
    await called(webhooks)
    for _ in range(3):
        webhooks.call("https://receiver.test/", uuid4(), b"x" * 20 * MIB)
    assert dropped() - before == 1
    await webhooks.drain(0)


async def test_silent_name_servers_of_receivers_hold_up_no_other_receiver() -> None:
    async def resolve(host: str, _port: int) -> list[str]:
        if host.startswith("silent"):
            await asyncio.sleep(60)
        return ["8.8.8.8"]

    reached = asyncio.Event()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await nothing(head, writer)

    async with internet(answer, {}) as world:
        webhooks = Webhooks(PublicWeb((), resolve=resolve, network=world))
        webhooks.start()
        for number in range(40):
            webhooks.call(f"http://silent{number}.test/", uuid4(), b"{}")
        webhooks.call("http://receiver.test/", uuid4(), b"{}")
        await asyncio.wait_for(reached.wait(), 2)
        await webhooks.drain(0)


@pytest.mark.parametrize("error", [httpcore.ConnectError("refused"), TimeoutError(), OSError()])
async def test_a_receiver_that_is_not_reached_is_tried_three_times(error: Exception) -> None:
    tries: list[str] = []

    async def resolve(host: str, _port: int) -> list[str]:
        tries.append(host)
        raise error

    webhooks = Webhooks(PublicWeb((), resolve=resolve))
    webhooks.start()
    webhooks.call("https://receiver.test/", uuid4(), b"{}")
    await called(webhooks)
    await webhooks.drain(0)
    assert tries == ["receiver.test"] * 3
