"""CancelRequest: one counts, streamed jobs are settled on what was posted, others finish."""

import asyncio

import pytest

from horde.contract import pricing, reasons
from horde.contract.refusal import Refusal
from tests.fakes.dispatch_service import serving
from tests.servers import Database


def worth(characters: int) -> int:
    """The reward of a reply of so many characters in the scene's usual request."""
    return pricing.reward(
        reply_characters=characters,
        prompt_characters=2048,
        max_length=512,
        multiplier=13.0,
        validated_backend=True,
        owner_trusted=True,
    )


async def test_a_waiting_request_is_cancelled_once_however_many_ask(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        request = await scene.request(await scene.account(), hold=500)
        answers = await asyncio.gather(*(dispatch.cancel(request) for _ in range(5)))
        await dispatch.settled()
        assert not answers[0].done
        status = await dispatch.status(request)
        assert (status.done, status.cancelled, status.faulted, status.waiting) == (True, True, False, 0)
        assert (await scene.row("dispatch.waiting_prompts", request))["terminal_outcome"] == "cancellation"
        assert not (await scene.row("dispatch.wp_models", request, "wp_id"))["waiting"]
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None
        assert dispatch.progress.events(str(request)) == [("cancelled", 0)]
        assert (await dispatch.cancel(request)).done


@pytest.mark.parametrize(
    ("posted", "characters", "is_broken"),
    [((400, 999), 400, False), ((None, 640), 640, False), ((0, 0), 0, False), (None, 0, False), ((400, 400), 0, True)],
)
async def test_a_streamed_job_is_paid_for_what_its_worker_posted(
    database: Database, posted: tuple[int | None, int] | None, characters: int, is_broken: bool
) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        asker, owner = await scene.account(), await scene.account(trusted=True)
        worker = await scene.worker(owner)
        request = await scene.request(asker, hold=500, chat_extras={"stream_progress": True})
        generation = await scene.generation(request, worker, streamed=True)
        if posted is not None:
            dispatch.progress.posted[str(generation)] = posted
        dispatch.progress.is_broken = is_broken
        before = await dispatch.cancel(request)
        assert (before.processing, before.done, before.streamed) == (1, False, True)
        await dispatch.settled()
        expected = worth(characters)
        settled = await scene.row("dispatch.processing_gens", generation)
        assert (settled["faulted"], settled["cancelled"], settled["settled_character_count"]) == (
            True,
            True,
            characters,
        )
        assert (settled["charge_basis"], settled["finish_reason"], settled["generation"]) == (None, None, None)
        assert (await scene.row("admission.users", owner.id))["kudos"] == 100_000 + expected
        assert (await scene.row("admission.users", asker.id))["kudos"] == 100_000 - expected - pricing.BURN
        assert await scene.ledger_sum() == 0
        paid = await scene.row("dispatch.workers", worker)
        assert (paid["aborted_jobs"], paid["uncompleted_jobs"], paid["fulfilments"]) == (0, 0, 1)
        status = await dispatch.status(request)
        assert (status.done, len(status.generations), status.finished) == (True, 0, 0)
        assert status.kudos_hundredths == expected + pricing.BURN
        with pytest.raises(Refusal) as late:
            await dispatch.reply(generation, owner)
        assert late.value.reason is reasons.ABORTED_GEN
        if not is_broken:
            assert dispatch.progress.cancelled == [str(generation)]
            assert dispatch.progress.events(str(request)) == [("cancelled", 0)]


async def test_a_job_that_does_not_stream_finishes_and_is_paid_after_the_cancel(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, hold=500)
        generation = await scene.generation(request, await scene.worker(owner))
        await dispatch.cancel(request)
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is None
        status = await dispatch.status(request)
        assert (status.cancelled, status.done, status.processing) == (True, False, 1)
        assert await dispatch.reply(generation, owner) > 0
        await dispatch.settled()
        status = await dispatch.status(request)
        assert (status.done, status.finished) == (True, 1)
        assert dispatch.progress.events(str(request)) == [("cancelled", 0), ("generation", 1), ("done", 1)]
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None


async def test_a_fault_after_the_cancel_restarts_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, hold=500)
        generation = await scene.generation(request, await scene.worker(owner))
        await dispatch.cancel(request)
        await dispatch.fault(generation, owner)
        status = await dispatch.status(request)
        assert (status.done, status.waiting, status.faulted, status.restarted) == (True, 0, False, 1)
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None


async def test_a_fake_jobs_lease_is_flagged_and_nobody_is_paid(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, chat_extras={"stream_progress": True})
        fake = await scene.generation(request, await scene.worker(owner), fake=True, streamed=True)
        await dispatch.cancel(request)
        assert dispatch.progress.cancelled == [str(fake)]
        assert not (await scene.row("dispatch.processing_gens", fake))["faulted"]
        assert await scene.db.fetchval("SELECT count(*) FROM admission.settlements") == 0


async def test_the_cancel_of_a_finished_request_changes_and_publishes_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner)
        await dispatch.reply(await scene.generation(request, await scene.worker(owner)), owner)
        status = await dispatch.cancel(request)
        await dispatch.settled()
        assert (status.done, status.cancelled) == (True, False)
        assert not (await scene.row("dispatch.waiting_prompts", request))["cancelled"]
        assert dispatch.progress.events(str(request)) == [("generation", 1), ("done", 1)]


async def test_a_cancel_and_a_reply_at_once_settle_a_streamed_job_once(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        asker, owner = await scene.account(), await scene.account(trusted=True)
        worker = await scene.worker(owner)
        for _ in range(10):
            request = await scene.request(asker, chat_extras={"stream_progress": True})
            generation = await scene.generation(request, worker, streamed=True)
            await asyncio.gather(dispatch.cancel(request), dispatch.reply(generation, owner), return_exceptions=True)
            assert (await dispatch.status(request)).done
        settled: int = await scene.db.fetchval("SELECT count(*) FROM admission.settlements")
        assert settled == 10
        assert (await scene.row("dispatch.workers", worker))["fulfilments"] == 10
        assert await scene.ledger_sum() == 0
