"""SubmitFault: the job waits again, the worker's counters, and the fault that was one too many."""

import asyncio
from datetime import timedelta

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch.rules.reply import FAULT_MESSAGES
from tests.fakes.dispatch_service import Dispatch, serving
from tests.servers import Database


async def counters(dispatch: Dispatch, worker: object) -> tuple[int, int, int]:
    row = await dispatch.scene.row("dispatch.workers", worker)
    return row["aborted_jobs"], row["uncompleted_jobs"], row["nonconformant_replies"]


async def test_a_fault_lets_the_job_wait_again_and_a_repeat_changes_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner, hold=700)
        generation = await scene.generation(request, worker, streamed=True)
        assert (await dispatch.status(request)).waiting == 0
        await asyncio.gather(*(dispatch.fault(generation, owner) for _ in range(4)))
        await dispatch.settled()
        status = await dispatch.status(request)
        assert (status.waiting, status.processing, status.restarted, status.done) == (1, 0, 1, False)
        assert (await scene.row("dispatch.waiting_prompts", request))["n"] == 1
        assert (await scene.row("dispatch.wp_models", request, "wp_id"))["waiting"]
        assert await counters(dispatch, worker) == (1, 1, 0)
        assert dispatch.progress.closed == [(str(generation), True)]
        assert dispatch.progress.signals == []
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is None


async def test_a_fault_after_the_reply_was_stored_is_a_duplicate_and_changes_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner)
        generation = await scene.generation(request, worker)
        await dispatch.reply(generation, owner)
        with pytest.raises(Refusal) as refused:
            await dispatch.fault(generation, owner)
        assert refused.value.reason is reasons.DUPLICATE_GEN
        await scene.db.execute("UPDATE dispatch.workers SET maintenance = true WHERE id = $1", worker)
        await dispatch.fault(generation, owner)
        assert (await dispatch.status(request)).finished == 1
        assert await counters(dispatch, worker) == (0, 0, 0)


async def test_the_third_fault_faults_the_request_at_once_and_tells_why(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner, hold=700)
        for reason in ("generation_error", "a reason of another day", "prompt_overflow"):
            assert not (await dispatch.status(request)).faulted
            await dispatch.fault(await scene.generation(request, worker), owner, reason)
        await dispatch.settled()
        status = await dispatch.status(request)
        assert (status.faulted, status.done, status.is_possible) == (True, True, False)
        assert (status.fault_reason, status.fault_rc) == (FAULT_MESSAGES["prompt_overflow"], "ChatWorkerFault")
        assert not (await scene.row("dispatch.wp_models", request, "wp_id"))["waiting"]
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None
        (told,) = [signal for _, signal in dispatch.progress.signals]
        assert (told.event, told.generations) == ("faulted", 0)
        assert (told.fault_reason, told.fault_rc) == (FAULT_MESSAGES["prompt_overflow"], "ChatWorkerFault")


async def test_a_refusal_says_more_than_the_fault_that_follows_it(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        extras = {"response_format": {"type": "json_object"}}
        request = await scene.request(owner, chat_extras=extras)
        generation = await scene.generation(request, worker)
        with pytest.raises(Refusal) as refused:
            await dispatch.reply(generation, owner)
        await dispatch.fault(generation, owner, "reply_refused")
        assert (await scene.row("dispatch.waiting_prompts", request))["chat_fault_reason"] == refused.value.message
        assert await counters(dispatch, worker) == (0, 0, 1)


async def test_the_last_refusal_of_a_generation_decides_the_counter(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner, chat_extras={"response_format": {"type": "json_object"}})
        generation = await scene.generation(request, worker)
        for changed in ({}, {"model_id": "another"}):
            with pytest.raises(Refusal):
                await dispatch.reply(generation, owner, **changed)
        await dispatch.fault(generation, owner, "reply_refused")
        assert (await scene.row("dispatch.waiting_prompts", request))["chat_fault_rc"] == "ChatModelMismatch"
        assert await counters(dispatch, worker) == (1, 1, 0)


async def test_a_reason_counts_only_in_a_chat_submit_of_a_chat_job(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        for is_chat, chat in ((True, False), (False, True)):
            request = await scene.request(owner, is_chat=is_chat)
            await dispatch.fault(await scene.generation(request, worker), owner, "generation_error", chat=chat)
            assert (await scene.row("dispatch.waiting_prompts", request))["chat_fault_reason"] is None


async def test_a_fault_of_a_fake_job_touches_neither_request_nor_worker(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner)
        await dispatch.fault(await scene.generation(request, worker, fake=True), owner, "generation_error")
        stored = await scene.row("dispatch.waiting_prompts", request)
        assert (stored["n"], stored["chat_fault_reason"]) == (1, None)
        assert await counters(dispatch, worker) == (0, 0, 0)


async def test_too_many_dropped_jobs_in_an_hour_put_a_worker_into_maintenance(database: Database) -> None:
    async with serving(database, faulted_generations_limit=100) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner)
        await dispatch.fault(await scene.generation(request, worker), owner)
        dispatch.clock.advance(timedelta(seconds=3601))
        for dropped in range(21):
            row = await scene.row("dispatch.workers", worker)
            assert (row["aborted_jobs"], row["maintenance"]) == (1 if dropped == 0 else dropped, False)
            await dispatch.fault(await scene.generation(request, worker), owner)
        row = await scene.row("dispatch.workers", worker)
        assert (row["aborted_jobs"], row["uncompleted_jobs"], row["maintenance"]) == (0, 22, True)
        assert "dropped too many jobs" in row["maintenance_msg"]
        assert (await scene.row("dispatch.worker_suspicions", worker, "worker_id"))["suspicion_id"] == 9


async def test_a_lease_is_renewed_up_to_its_cap_and_never_shortened(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner)
        generation = await scene.generation(request, await scene.worker(owner))

        async def renewed(seconds: int) -> tuple[bool, int]:
            answer = await dispatch.renew(generation, seconds)
            row = await scene.row("dispatch.processing_gens", generation)
            assert row["lease_until"] - row["start_time"] == timedelta(seconds=row["job_ttl"])
            return answer, row["job_ttl"]

        assert [await renewed(seconds) for seconds in (170, 160, 500)] == [(True, 170), (True, 170), (True, 200)]
        assert await dispatch.state(generation) == "GENERATION_STATE_PENDING"
        await dispatch.fault(generation, owner)
        assert await renewed(200) == (False, 200)
        assert await dispatch.state(generation) == "GENERATION_STATE_FAULTED"
        second = await scene.generation(request, await scene.worker(owner))
        await dispatch.reply(second, owner)
        assert await dispatch.state(second) == "GENERATION_STATE_FINISHED"
        assert await dispatch.state("no uuid") == "GENERATION_STATE_UNKNOWN"
        assert not await dispatch.renew("no uuid", 200)


async def test_a_faulted_job_counts_for_a_faulted_request_no_more(database: Database) -> None:
    async with serving(database, faulted_generations_limit=0) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner, is_chat=False, jobs=2)
        first, second = [await scene.generation(request, worker) for _ in range(2)]
        await dispatch.fault(first, owner, chat=False)
        assert (await dispatch.status(request, chat=False)).faulted
        await dispatch.fault(second, owner, chat=False)
        stored = await scene.row("dispatch.waiting_prompts", request)
        assert (stored["n"], stored["terminal_outcome"]) == (1, "fault")
        with pytest.raises(Refusal) as refused:
            await dispatch.reply(second, owner)
        assert refused.value.reason is reasons.ABORTED_GEN
