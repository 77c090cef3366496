import asyncio
from functools import partial

from horde.failures import Outage
from services.dispatch.aftermath import Aftermath


async def test_what_waits_is_done_before_the_drain_ends() -> None:
    done: list[int] = []
    aftermath = Aftermath(runners=2)
    aftermath.start()

    async def work(number: int) -> None:
        await asyncio.sleep(0.01)
        done.append(number)

    for number in range(5):
        aftermath.enqueue("work", partial(work, number))
    await aftermath.drain(5)

    assert sorted(done) == [0, 1, 2, 3, 4]


async def test_work_that_fails_does_not_stop_the_rest() -> None:
    done: list[str] = []
    aftermath = Aftermath(runners=1)
    aftermath.start()

    async def away() -> None:
        raise Outage("progress", "not there")

    async def bug() -> None:
        raise ValueError("a bug")

    async def fine() -> None:
        done.append("fine")

    for work in (away, bug, fine):
        aftermath.enqueue("work", work)
    await aftermath.drain(5)

    assert done == ["fine"]


async def test_a_full_queue_drops_the_newest() -> None:
    done: list[int] = []
    aftermath = Aftermath(capacity=2, runners=1)

    async def work(number: int) -> None:
        done.append(number)

    for number in range(5):
        aftermath.enqueue("work", partial(work, number))
    aftermath.start()
    await aftermath.drain(5)

    assert done == [0, 1]


async def test_the_drain_ends_in_time() -> None:
    aftermath = Aftermath(runners=1)
    aftermath.start()
    aftermath.enqueue("work", lambda: asyncio.sleep(60))
    aftermath.enqueue("work", lambda: asyncio.sleep(60))

    async with asyncio.timeout(5):
        await aftermath.drain(0.05)


async def test_work_that_is_waited_for_is_done_when_the_wait_ends_or_later_when_it_takes_too_long() -> None:
    done: list[str] = []
    aftermath = Aftermath(runners=2)
    aftermath.start()

    async def work(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        done.append(name)

    await aftermath.finish("work", partial(work, "quick", 0.01), within=5)
    assert done == ["quick"]
    await aftermath.finish("work", partial(work, "slow", 0.2), within=0.01)
    assert done == ["quick"]
    await aftermath.drain(5)
    assert done == ["quick", "slow"]


async def test_work_that_fails_does_not_reach_who_waits_for_it() -> None:
    aftermath = Aftermath(runners=1)
    aftermath.start()

    async def away() -> None:
        raise Outage("progress", "not there")

    async with asyncio.timeout(2):
        await aftermath.finish("work", away, within=5)
    await aftermath.drain(5)
