"""The cells that check formats: none is ever lost, and a worker pays for the schemas of nobody else."""

import asyncio
from contextlib import suppress
from typing import Any, cast

import pytest

from horde.failures import Outage
from horde.rpc.client import NeighbourUnavailable
from services.dispatch.jail.cells import Jail
from services.dispatch.rules.schema_check import Verdict
from tests.fakes.dispatch_service import Dispatch


class _BrokenCell:
    """A process that takes no question and needs a while to end."""

    def __init__(self) -> None:
        self.returncode = None
        self.stdin = self.stdout = self
        self.is_killed = asyncio.Event()

    def write(self, _question: bytes) -> None:
        raise ConnectionError("the cell is gone")

    def kill(self) -> None:
        self.is_killed.set()

    async def wait(self) -> None:
        await asyncio.sleep(0.2)


async def test_a_caller_that_leaves_while_its_cell_is_being_ended_takes_no_cell_with_it() -> None:
    jail, broken = Jail(cells=1), _BrokenCell()
    jail._free.get_nowait()
    jail._free.put_nowait(cast("Any", broken))
    check = asyncio.create_task(jail.check("{}", {"type": "object"}))
    await broken.is_killed.wait()
    check.cancel()
    with suppress(asyncio.CancelledError):
        await check
    assert await asyncio.wait_for(jail.check("{}", {"type": "object"}), 20) is Verdict.OK
    await jail.close()


async def test_a_check_that_finds_no_free_cell_in_time_says_nothing_of_the_reply() -> None:
    jail = Jail(cells=1, seconds=0.1)
    jail._free.get_nowait()
    with pytest.raises(Outage):
        await asyncio.wait_for(jail.check("{}", {"type": "object"}), 20)


async def test_a_reply_is_not_refused_while_the_checks_are_busy_with_those_of_others(dispatch: Dispatch) -> None:
    scene, jail = dispatch.scene, dispatch.deps.jail
    owner = await scene.account()
    described = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": {"type": "object"}}}
    request = await scene.request(owner, chat_extras={"response_format": described})
    generation = await scene.generation(request, await scene.worker(owner))
    jail._seconds = 0.1
    taken = [jail._free.get_nowait() for _ in range(jail._free.qsize())]

    with pytest.raises(NeighbourUnavailable) as away:
        await dispatch.reply(generation, owner, {"role": "assistant", "content": "{}"})

    assert away.value.code == "UNAVAILABLE"
    row = await scene.row("dispatch.processing_gens", generation)
    assert (row["generation"], row["faulted"], row["chat_refusal_rc"]) == (None, False, None)
    jail._seconds = 20
    for cell in taken:
        jail._free.put_nowait(cell)
    assert await dispatch.reply(generation, owner, {"role": "assistant", "content": "{}"}) > 0
