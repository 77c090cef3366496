"""GetStatus: the counts, the queue, who could serve it, and why nobody can."""

import json
from datetime import timedelta

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.dispatch_scene import MODEL
from tests.fakes.dispatch_service import serving
from tests.servers import Database


async def test_a_request_of_the_other_family_or_of_nobody_is_not_found(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        chat, text = await scene.request(user), await scene.request(user, is_chat=False)
        for wanted, family in ((chat, False), (text, True), ("no uuid", True), ("\0", True), (user.key, False)):
            for call in (dispatch.status(wanted, chat=family), dispatch.cancel(wanted, chat=family)):
                with pytest.raises(Refusal) as refused:
                    await call
                assert refused.value.reason is reasons.REQUEST_NOT_FOUND


async def test_a_waiting_request_tells_its_place_its_wait_and_its_workers(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        await scene.worker(user, threads=2, speed=20.0)
        await scene.worker(user, models=["another"], chat_model_id="another")
        first, second = await scene.request(user), await scene.request(user, context_adjustments=[{"reason": "grow"}])
        status = await dispatch.status(second)
        assert (status.queue_position, (await dispatch.status(first)).queue_position) == (2, 1)
        assert (status.is_possible, status.eligible_workers, status.eligible_worker_threads) == (True, 1, 2)
        # 1024 tokens wait in two jobs, for two threads of 20 tokens per second each
        assert status.wait_time_seconds == round(1024 / 40)
        assert (status.waiting, status.finished, status.processing, status.done) == (1, 0, 0, False)
        assert json.loads(status.context_adjustments) == [{"reason": "grow"}]
        assert status.impossible_reason == b""
        assert status.created.ToDatetime(tzinfo=scene.now.tzinfo) == scene.now


async def test_a_running_job_leaves_the_queue_and_counts_its_remaining_time(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        worker = await scene.worker(user, speed=8.0)
        request = await scene.request(user)
        generation = await scene.generation(request, worker)
        dispatch.clock.advance(timedelta(seconds=24))
        status = await dispatch.status(request)
        assert (status.queue_position, status.processing, status.waiting) == (0, 1, 0)
        # 512 tokens at 8 per second, of which 24 seconds are gone
        assert status.wait_time_seconds == 40
        dispatch.clock.advance(timedelta(seconds=1))
        await dispatch.reply(generation, user)
        (shown,) = (await dispatch.status(request)).generations
        assert (shown.worker_id, shown.model, shown.queue_wait_seconds) == (str(worker), MODEL, 0.0)


async def test_a_gap_in_the_declarations_is_the_reason_only_while_it_is_the_only_one(database: Database) -> None:
    async with serving(database, availability_cache_seconds=0) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        request = await scene.request(
            user, chat_required_features=["prompt_overflow_refused", "vision"], max_length=800
        )
        assert (await dispatch.status(request)).impossible_reason == b""
        lacking = await scene.worker(user, chat_max_length=600)
        status = await dispatch.status(request)
        assert (status.is_possible, status.eligible_workers) == (False, 0)
        assert json.loads(status.impossible_reason) == {
            "kind": "declaration_gap",
            "missing_declarations": ["vision"],
            "exceeded_limits": ["max_length"],
        }
        slow = await scene.worker(user, speed=1.0, chat_features=["prompt_overflow_refused", "vision"])
        assert (await dispatch.status(request)).impossible_reason == b""
        await scene.db.execute("DELETE FROM dispatch.workers WHERE id = $1", slow)
        await scene.generation(request, lacking)
        status = await dispatch.status(request)
        assert (status.is_possible, status.impossible_reason) == (True, b"")


async def test_an_availability_is_remembered_longer_than_its_absence(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        request = await scene.request(user)
        assert not (await dispatch.status(request)).is_possible
        await scene.worker(user)
        dispatch.clock.advance(timedelta(seconds=2))
        assert (await dispatch.status(request)).is_possible
        await scene.db.execute("UPDATE dispatch.workers SET last_check_in = now() - interval '1 day'")
        dispatch.clock.advance(timedelta(seconds=59))
        assert (await dispatch.status(request)).is_possible
        dispatch.clock.advance(timedelta(seconds=1))
        assert not (await dispatch.status(request)).is_possible


async def test_the_counts_of_a_request_add_up_and_fakes_are_in_none_of_them(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        user = await scene.account()
        worker = await scene.worker(user)
        request = await scene.request(user, is_chat=False, jobs=5)
        finished, faulted, _running = [await scene.generation(request, worker) for _ in range(3)]
        await scene.generation(request, worker, fake=True)
        await dispatch.text(finished, user, "x")
        await dispatch.fault(faulted, user, chat=False)
        status = await dispatch.status(request, chat=False)
        assert (status.finished, status.processing, status.restarted, status.waiting) == (1, 1, 1, 3)
