"""Loops survive their faults and stop in good order."""

import asyncio
from datetime import timedelta

from prometheus_client import REGISTRY

from horde.failures import Outage
from horde.rpc.loops import Loop, LoopRunner


def runs(loop: str, outcome: str) -> float:
    return REGISTRY.get_sample_value("horde_loop_runs_total", {"loop": loop, "outcome": outcome}) or 0.0


async def test_a_loop_goes_on_after_a_fault_and_after_an_outage() -> None:
    errors: list[Exception] = [KeyError("bug"), Outage("postgres", "gone")]
    worked = asyncio.Event()

    async def work() -> None:
        if errors:
            raise errors.pop(0)
        worked.set()

    runner = LoopRunner([Loop("survivor", timedelta(milliseconds=5), work)])
    runner.start()
    await asyncio.wait_for(worked.wait(), 5)
    await runner.stop(1)
    assert runs("survivor", "fault") == 1
    assert runs("survivor", "unavailable") == 1
    assert runs("survivor", "ok") >= 1
    assert REGISTRY.get_sample_value("horde_loop_last_success_timestamp_seconds", {"loop": "survivor"})


async def test_a_run_under_way_may_end() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        await asyncio.sleep(0.1)
        ended.set()

    runner = LoopRunner([Loop("patient", timedelta(hours=1), work)])
    runner.start()
    await started.wait()
    await runner.stop(5)
    assert ended.is_set()


async def test_a_run_that_takes_too_long_is_cut_short() -> None:
    async def work() -> None:
        await asyncio.sleep(60)

    runner = LoopRunner([Loop("stubborn", timedelta(hours=1), work)])
    runner.start()
    await asyncio.sleep(0)
    started = asyncio.get_running_loop().time()
    await runner.stop(0.05)
    assert asyncio.get_running_loop().time() - started < 2
