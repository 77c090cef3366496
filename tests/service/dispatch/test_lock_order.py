"""What changes a generation locks its request first, as faults and cancels do: none of them ever waits in a circle."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from services.dispatch import undoing
from services.dispatch.deps import Deps
from services.dispatch.repo import outcomes
from tests.fakes.dispatch_service import Dispatch
from tests.fakes.patience import until
from tests.servers import Database

_WAITS_FOR_A_LOCK = """SELECT EXISTS (SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'horde_dispatch' AND wait_event_type = 'Lock')"""

type Change = Callable[[UUID, UUID, Deps], Coroutine[Any, Any, None]]


async def _give_back(request: UUID, generation: UUID, deps: Deps) -> None:
    await undoing.give_back(request, [generation], deps)


async def _refuse(_request: UUID, generation: UUID, deps: Deps) -> None:
    await outcomes.record_refusal(deps.store, generation, message="not what was asked for", rc="ChatModelMismatch")


async def _fault(_request: UUID, generation: UUID, deps: Deps) -> None:
    await outcomes.fault_generation(deps.store, generation, limit=2, only_lapsed=False, now=deps.clock.now())


async def _waits(dispatch: Dispatch) -> bool:
    is_so: bool = await dispatch.scene.db.fetchval(_WAITS_FOR_A_LOCK)
    return is_so


@pytest.mark.parametrize("change", [_give_back, _refuse, _fault])
async def test_a_generation_is_changed_beside_whatever_else_locks_its_request_first(
    dispatch: Dispatch, database: Database, change: Change
) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    request = await scene.request(owner)
    generation = await scene.generation(request, await scene.worker(owner))
    connection = await asyncpg.connect(database.url)
    async with connection.transaction():
        await connection.execute("SELECT FROM dispatch.waiting_prompts WHERE id = $1 FOR NO KEY UPDATE", request)
        changing = asyncio.create_task(change(request, generation, dispatch.deps))
        await until(partial(_waits, dispatch))
        await connection.execute("UPDATE dispatch.processing_gens SET job_ttl = 7 WHERE id = $1", generation)
    await connection.close()
    await changing


async def test_a_refusal_that_waited_for_a_fault_is_not_recorded(dispatch: Dispatch, database: Database) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    request = await scene.request(owner)
    generation = await scene.generation(request, await scene.worker(owner))
    connection = await asyncpg.connect(database.url)
    async with connection.transaction():
        await connection.execute("SELECT dispatch.fault_generation_v2($1, 2, false, now())", generation)
        refusing = asyncio.create_task(_refuse(request, generation, dispatch.deps))
        await until(partial(_waits, dispatch))
    await connection.close()
    await refusing
    assert (await scene.row("dispatch.processing_gens", generation))["chat_refusal_rc"] is None
    assert (await scene.row("dispatch.waiting_prompts", request))["chat_fault_rc"] is None
