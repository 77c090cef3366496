"""A caller that goes away after the commit takes nothing with it of what follows."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from tests.fakes.dispatch_service import Dispatch, serving
from tests.servers import Database


async def _left(dispatch: Dispatch, call: Coroutine[Any, Any, object]) -> None:
    """Calls, and goes away as soon as progress is told that a lease ends; returns when everything has followed."""
    dispatch.progress.ends_in = 0.5  # half of what the call may take
    calling = asyncio.create_task(call)
    await dispatch.progress.is_ending.wait()
    calling.cancel()
    with suppress(asyncio.CancelledError):
        await calling
    await asyncio.sleep(0.2)  # the service hears of it
    await dispatch.settled()


async def test_who_waits_for_a_faulted_request_is_told_although_its_worker_went_away(database: Database) -> None:
    async with serving(database, faulted_generations_limit=0) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner)
        generation = await scene.generation(request, await scene.worker(owner), streamed=True)

        await _left(dispatch, dispatch.fault(generation, owner))

        assert dispatch.progress.events(str(request)) == [("faulted", 0)]
        assert dispatch.progress.closed == [(str(generation), True)]


async def test_a_worker_that_is_too_fast_is_suspected_although_it_went_away(dispatch: Dispatch) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    request = await scene.request(owner, max_length=1024)
    worker = await scene.worker(owner)
    generation = await scene.generation(request, worker, streamed=True)

    said = {"role": "assistant", "content": "x" * 4096}
    await _left(dispatch, dispatch.reply(generation, owner, said))

    assert (await scene.row("dispatch.worker_suspicions", worker, "worker_id"))["suspicion_id"] is not None


async def test_clients_and_workers_of_a_cancelled_request_are_told_although_who_cancelled_went_away(
    dispatch: Dispatch,
) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    request = await scene.request(owner, chat_extras={"stream_progress": True})
    generation = await scene.generation(request, await scene.worker(owner), streamed=True)

    await _left(dispatch, dispatch.cancel(request))

    assert dispatch.progress.events(str(request)) == [("cancelled", 0)]
    assert dispatch.progress.cancelled == [str(generation)]
