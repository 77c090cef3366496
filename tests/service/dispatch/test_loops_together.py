"""Every loop in two replicas at once, over the same work: none fails, and the work is done once."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

from prometheus_client import REGISTRY

from horde.rpc.loops import run_once
from services.dispatch.loops.measure_backlogs import measure_backlogs
from services.dispatch.schedule import every_loop
from tests.fakes.dispatch_scene import Scene
from tests.fakes.dispatch_service import Dispatch, serving
from tests.servers import Database


async def _work_for_every_loop(scene: Scene) -> dict[str, Any]:
    """Lapsed jobs, expired requests with objects, idle lanes, samples, reports and old messages; twenty of each."""
    owner = await scene.account(trusted=True)
    worker = await scene.worker(owner)
    for number in range(20):
        lapsed = await scene.request(owner, models=[f"model {number}"])
        await scene.generation(lapsed, worker, lease=10)
        old = (scene.now - timedelta(minutes=1)).isoformat()
        await scene.request(owner, expiry=old, hold=100, image_keys=[f"{number}.jpg"], models=[f"idle {number}"])
    await scene.db.execute("UPDATE dispatch.lanes SET last_used = $1", scene.now - timedelta(days=1))
    await scene.db.execute(
        """INSERT INTO dispatch.worker_performances (worker_id, performance, created)
           SELECT $1, i, $2 FROM generate_series(1, 40) AS i""",
        worker,
        scene.now,
    )
    await scene.db.execute(
        "SELECT dispatch.suspect_worker_v1($1, 9, i::text, $2) FROM generate_series(1, 20) AS i", worker, scene.now
    )
    await scene.db.execute(
        """INSERT INTO dispatch.worker_messages (user_id, message, origin, created, expiry)
           SELECT $1, 'old', '', $2::timestamptz, $2::timestamptz - interval '31 days' FROM generate_series(1, 20)""",
        owner.id,
        scene.now,
    )
    return {"owner": owner, "worker": worker}


async def _count(scene: Scene, what: str) -> int:
    found: int = await scene.db.fetchval(f"SELECT count(*) FROM {what}")  # noqa: S608 - a test's own words
    return found


async def test_every_loop_may_run_in_two_replicas_at_once(database: Database) -> None:
    async with serving(database) as first, serving(database) as second:
        scene = first.scene
        made = await _work_for_every_loop(scene)
        for replica in (first, second):
            replica.clock.advance(timedelta(seconds=11))
        replicas: list[Dispatch] = [first, second]
        for _ in range(3):
            runs = [run_once(loop) for replica in replicas for loop in every_loop(replica.deps)]
            assert all(await asyncio.gather(*runs))
        for replica in replicas:
            await replica.settled()

        row = await scene.row("dispatch.workers", made["worker"])
        assert (row["uncompleted_jobs"], row["aborted_jobs"]) == (20, 20)
        assert await _count(scene, "dispatch.waiting_prompts") == 20
        assert await _count(scene, "dispatch.waiting_prompts WHERE n = 1 AND NOT faulted") == 20
        assert await _count(scene, "dispatch.processing_gens WHERE faulted") == 20
        assert await _count(scene, "admission.kudos_reservations WHERE released_at IS NULL") == 0
        assert sorted({*first.media.deleted, *second.media.deleted}) == sorted(f"{number}.jpg" for number in range(20))
        assert await _count(scene, "dispatch.object_deletions") == 0
        told = {*first.reports.suspicions, *second.reports.suspicions}
        assert len(told) == 20
        assert await _count(scene, "dispatch.worker_reports") == 0
        assert await _count(scene, "dispatch.worker_messages") == 0
        assert await _count(scene, "dispatch.lanes") == 20
        assert await _count(scene, "dispatch.worker_performances") == 20
        assert row["speed"] is not None
        assert await scene.ledger_sum() == 0


async def test_the_lag_of_a_loop_is_the_age_of_its_oldest_work(dispatch: Dispatch) -> None:
    scene = dispatch.scene
    await measure_backlogs(dispatch.deps)
    assert {_lag(loop) for loop in _MEASURED} == {0.0}
    owner = await scene.account()
    worker = await scene.worker(owner)
    await scene.generation(await scene.request(owner), worker, lease=100)
    await scene.request(owner, expiry=(scene.now + timedelta(seconds=50)).isoformat())
    await scene.db.execute(
        "INSERT INTO dispatch.object_deletions (object_key, created) VALUES ($1, $2)", str(uuid.uuid4()), scene.now
    )
    await scene.db.execute("SELECT dispatch.suspect_worker_v1($1, 9, '', $2)", worker, scene.now)
    dispatch.clock.advance(timedelta(seconds=120))
    await measure_backlogs(dispatch.deps)
    assert [_lag(loop) for loop in _MEASURED] == [20.0, 70.0, 120.0, 120.0]


_MEASURED = ("abort_stale_leases", "remove_expired_requests", "delete_objects", "deliver_reports")


def _lag(loop: str) -> float | None:
    return REGISTRY.get_sample_value("horde_dispatch_loop_lag_seconds", {"loop": loop})
