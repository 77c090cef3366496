"""The loops over what lapsed, what expired, what is left to delete, and what maintenance stops."""

import asyncio
from datetime import timedelta

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc.loops import Loop, run_once
from services.dispatch.loops.abort_on_maintenance import abort_on_maintenance
from services.dispatch.loops.abort_stale_leases import abort_stale_leases
from services.dispatch.loops.delete_objects import delete_objects
from services.dispatch.loops.remove_expired_requests import remove_expired_requests
from tests.fakes.dispatch_service import serving
from tests.servers import Database


async def test_a_lapsed_job_waits_again_once_however_many_replicas_look(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request, other = await scene.request(owner), await scene.request(owner)
        generation = await scene.generation(request, worker, streamed=True)
        renewed = await scene.generation(other, worker, lease=152)
        dispatch.clock.advance(timedelta(seconds=151))
        await asyncio.gather(*(abort_stale_leases(dispatch.deps) for _ in range(3)))
        await dispatch.settled()
        status = await dispatch.status(request)
        assert (status.waiting, status.restarted) == (1, 1)
        row = await scene.row("dispatch.workers", worker)
        assert (row["aborted_jobs"], row["uncompleted_jobs"]) == (1, 1)
        assert dispatch.progress.closed == [(str(generation), True)]
        assert not (await scene.row("dispatch.processing_gens", renewed))["faulted"]


async def test_a_request_whose_third_job_lapses_is_faulted_and_told(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner)
        for _ in range(3):
            await scene.generation(request, worker)
            dispatch.clock.advance(timedelta(seconds=151))
            await abort_stale_leases(dispatch.deps)
        await dispatch.settled()
        assert (await dispatch.status(request)).faulted
        assert dispatch.progress.events(str(request)) == [("faulted", 0)]


async def test_a_lapsed_job_whose_reply_was_nonconformant_is_no_dropped_job(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        request = await scene.request(owner, chat_extras={"response_format": {"type": "json_object"}})
        with pytest.raises(Refusal):
            await dispatch.reply(await scene.generation(request, worker), owner)
        dispatch.clock.advance(timedelta(seconds=151))
        await abort_stale_leases(dispatch.deps)
        row = await scene.row("dispatch.workers", worker)
        assert (row["aborted_jobs"], row["uncompleted_jobs"], row["nonconformant_replies"]) == (0, 0, 1)


async def test_a_lapsed_job_that_cannot_be_aborted_keeps_no_other_from_it(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        broken = await scene.generation(await scene.request(owner), worker, lease=10)
        others = [await scene.generation(await scene.request(owner), worker, lease=20) for _ in range(2)]
        await scene.db.execute(
            """CREATE FUNCTION dispatch.break_it() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN IF NEW.lease_cap = 1 THEN RAISE 'broken by a test'; END IF; RETURN NEW; END $$"""
        )
        await scene.db.execute("UPDATE dispatch.processing_gens SET lease_cap = 1 WHERE id = $1", broken)
        await scene.db.execute(
            """CREATE TRIGGER break_it BEFORE UPDATE ON dispatch.processing_gens
               FOR EACH ROW EXECUTE FUNCTION dispatch.break_it()"""
        )
        dispatch.clock.advance(timedelta(seconds=21))

        assert not await run_once(Loop("of a test", timedelta(seconds=1), lambda: abort_stale_leases(dispatch.deps)))

        for other in others:
            assert (await scene.row("dispatch.processing_gens", other))["faulted"]
        await scene.db.execute("DROP TRIGGER break_it ON dispatch.processing_gens")
        await abort_stale_leases(dispatch.deps)
        assert (await scene.row("dispatch.processing_gens", broken))["faulted"]


async def test_an_expired_request_goes_with_all_that_belongs_to_it(database: Database) -> None:
    async with serving(database, cleanup_interval_seconds=0.002) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        keys = ["a_chat_0.jpg", "a_chat_1.jpg"]
        waiting = await scene.request(owner, hold=500, image_keys=keys, chat_messages_offloaded=True)
        running = await scene.request(owner)
        generation = await scene.generation(running, worker, streamed=True)
        done = await scene.request(owner)
        await dispatch.reply(await scene.generation(done, worker), owner)
        dispatch.clock.advance(timedelta(minutes=20, seconds=1))
        young = await scene.request(owner, expiry=(dispatch.clock.now() + timedelta(minutes=1)).isoformat())
        await asyncio.gather(*(remove_expired_requests(dispatch.deps) for _ in range(3)))
        await dispatch.settled()
        for gone in (waiting, running, done):
            with pytest.raises(Refusal) as refused:
                await dispatch.status(gone)
            assert refused.value.reason is reasons.REQUEST_NOT_FOUND
        assert not (await dispatch.status(young)).done
        with pytest.raises(Refusal) as late:
            await dispatch.reply(generation, owner)
        assert late.value.reason is reasons.INVALID_JOB_ID
        assert (await scene.row("admission.kudos_reservations", waiting, "request_id"))["released_at"] is not None
        assert dispatch.progress.events(str(waiting)) == [("faulted", 0)]
        assert dispatch.progress.events(str(running)) == [("faulted", 0)]
        assert dispatch.progress.events(str(done)) == [("generation", 1), ("done", 1)]
        queued = await scene.db.fetch("SELECT object_key FROM dispatch.object_deletions ORDER BY 1")
        assert sorted(row["object_key"] for row in queued) == sorted([*keys, f"{waiting}_chat_messages.json"])
        dispatch.media.is_broken = True
        with pytest.raises(Outage):
            await delete_objects(dispatch.deps)
        dispatch.media.is_broken = False
        await delete_objects(dispatch.deps)
        await delete_objects(dispatch.deps)
        assert sorted(dispatch.media.deleted) == sorted([*keys, f"{waiting}_chat_messages.json"])


async def test_maintenance_cancels_what_waits_and_lets_jobs_under_way_settle(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        waiting, running = await scene.request(owner, hold=500), await scene.request(owner)
        text = await scene.request(owner, is_chat=False)
        generation = await scene.generation(running, worker, streamed=True)
        await abort_on_maintenance(dispatch.deps)
        assert (await dispatch.status(waiting)).waiting == 1
        await scene.db.execute("UPDATE moderation.settings SET maintenance = true")
        await asyncio.gather(*(abort_on_maintenance(dispatch.deps) for _ in range(3)))
        await dispatch.settled()
        assert (await dispatch.status(waiting)).done
        assert (await dispatch.status(text, chat=False)).done
        assert (await scene.row("admission.kudos_reservations", waiting, "request_id"))["released_at"] is not None
        assert dispatch.progress.events(str(waiting)) == [("cancelled", 0)]
        assert dispatch.progress.events(str(text)) == []
        assert dispatch.progress.cancelled == []
        assert await dispatch.reply(generation, owner) > 0


async def test_an_object_stays_queued_until_the_store_has_deleted_it(database: Database) -> None:
    async with serving(database, cleanup_interval_seconds=0.002) as dispatch:
        db = dispatch.scene.db
        await db.executemany(
            "INSERT INTO dispatch.object_deletions (object_key) VALUES ($1)", [(f"k{n}",) for n in range(3)]
        )
        dispatch.media.keeps = {"k1"}
        await delete_objects(dispatch.deps)
        assert [row["object_key"] for row in await db.fetch("SELECT * FROM dispatch.object_deletions")] == ["k1"]
        dispatch.media.keeps = set()
        await delete_objects(dispatch.deps)
        assert sorted(dispatch.media.deleted) == ["k0", "k1", "k2"]
        assert await db.fetchval("SELECT count(*) FROM dispatch.object_deletions") == 0


async def test_an_object_that_may_still_arrive_is_deleted_again_until_it_cannot(database: Database) -> None:
    async with serving(database, cleanup_interval_seconds=0.002) as dispatch:
        db = dispatch.scene.db
        await db.execute("INSERT INTO dispatch.object_deletions (object_key, due) VALUES ('k', now() + interval '1h')")
        await delete_objects(dispatch.deps)
        await delete_objects(dispatch.deps)
        await db.execute("UPDATE dispatch.object_deletions SET due = now()")
        await delete_objects(dispatch.deps)
        assert dispatch.media.deleted == ["k"] * 3
        assert await db.fetchval("SELECT count(*) FROM dispatch.object_deletions") == 0


async def test_one_pass_deletes_everything_and_two_replicas_share_it(database: Database) -> None:
    async with serving(database) as dispatch:
        db = dispatch.scene.db
        await db.execute(
            "INSERT INTO dispatch.object_deletions (object_key) SELECT 'k' || n FROM generate_series(1, 1700) AS n"
        )
        await asyncio.gather(*(delete_objects(dispatch.deps) for _ in range(2)))
        assert len(dispatch.media.deleted) == len(set(dispatch.media.deleted)) == 1700


async def test_objects_of_an_expired_request_that_was_never_let_in_are_deleted_again_for_a_while(
    database: Database,
) -> None:
    async with serving(database, cleanup_interval_seconds=0.002) as dispatch:
        scene = dispatch.scene
        request = await scene.request(await scene.account(), image_keys=["k"], chat_messages_offloaded=True)
        await scene.db.execute("UPDATE dispatch.waiting_prompts SET active = false WHERE id = $1", request)
        dispatch.clock.advance(timedelta(minutes=21))
        await remove_expired_requests(dispatch.deps)
        await delete_objects(dispatch.deps)
        await delete_objects(dispatch.deps)
        assert sorted(dispatch.media.deleted) == sorted(2 * ["k", f"{request}_chat_messages.json"])
        left = await scene.db.fetch("SELECT due - now() AS wait FROM dispatch.object_deletions")
        assert [row["wait"].total_seconds() > 30 for row in left] == [True, True]
