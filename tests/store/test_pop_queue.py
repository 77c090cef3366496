"""The queue's statements on a real Postgres: what they find, and what they read to find it."""

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from horde.contract.api_keys import hash_api_key
from horde.store import Store
from services.dispatch.repo import QUERIES, queue, workers
from services.dispatch.rules.jobs import Handout, Wanted
from services.dispatch.rules.matching import Fit
from tests.fakes.dispatch_world import MODEL, SECRET, Account, World
from tests.servers import Database

WORKER = uuid.uuid4()
FIT = Fit(
    priority_users=(999_999,),
    owner_only=False,
    chat_model=MODEL,
    features=("prompt_overflow_refused", "seed"),
    image_transport="url",
    chat_length=1024,
    chat_context=4096,
    tools_max_temperature=None,
    text_models=(MODEL,),
    text_length=1024,
    text_context=4096,
    softprompts=(),
    trusted=False,
    validated=True,
    speed=1.0,
    paused=False,
    capacity=1200.0,
)


@dataclass(frozen=True)
class Scene:
    """A store as dispatch has it, and the world around it."""

    store: Store
    world: World
    requester: Account

    async def found(self, depth: int = 20, /, **changed: Any) -> list[uuid.UUID]:
        """What a worker like FIT, changed, finds in one read, best first."""
        fit = replace(FIT, **changed)
        found = await queue.find_candidates(self.store, WORKER, fit, datetime.now(UTC), depth)
        return [candidate.request_id for candidate in found.fitting]

    async def nothing_fits(self, **changed: Any) -> bool:
        """What an idle worker like FIT, changed, is told."""
        seen = await workers.look_idle(
            self.store,
            hash_api_key(SECRET, self.requester.api_key),
            "nobody",
            worker_id=WORKER,
            fit=replace(FIT, **changed),
        )
        assert seen is not None
        return seen[1]

    async def fill(self, requests: int, **columns: Any) -> None:
        """Many waiting chat requests alike, written as the door would write them."""
        one = await self.world.chat(self.requester, **columns)
        await self.world.run(
            """WITH copied AS (
                   INSERT INTO dispatch.waiting_prompts (
                       id, is_chat, user_id, created, expiry, active, n, jobs, things, total_usage, rank, prompt,
                       params, gen_payload, max_length, max_context_length, models, workers, messages, trusted_workers,
                       chat_required_features)
                   SELECT gen_random_uuid(), is_chat, 1000 + i % 500, created, expiry, active, n, jobs, things,
                          total_usage, rank + 10, prompt, params, gen_payload, max_length, max_context_length, models,
                          workers, messages, trusted_workers, chat_required_features
                   FROM dispatch.waiting_prompts r, generate_series(2, $2) i WHERE r.id = $1
                   RETURNING id, user_id, rank)
               INSERT INTO dispatch.wp_models (
                   wp_id, model, lane_id, user_id, rank, created, max_length, max_context_length, waiting)
               SELECT c.id, m.model, m.lane_id, c.user_id, c.rank, m.created, m.max_length, m.max_context_length, true
               FROM copied c, dispatch.wp_models m WHERE m.wp_id = $1""",
            one,
            requests,
        )
        await self.world.run("ANALYZE dispatch.wp_models")
        await self.world.run("ANALYZE dispatch.waiting_prompts")

    async def buffers(self, **changed: Any) -> int:
        """How many pages one read of the queue touches."""
        arguments = queue.sought(WORKER, replace(FIT, **changed), datetime.now(UTC), 20)
        return await self._buffers("find_candidates", *arguments)

    async def idle_buffers(self, **changed: Any) -> int:
        """How many pages it touches to tell whether nothing fits."""
        arguments = workers.idle_sought(WORKER, replace(FIT, **changed))
        return await self._buffers("look_idle", *arguments, hash_api_key(SECRET, self.requester.api_key), "nobody")

    async def _buffers(self, name: str, *arguments: object) -> int:
        # what a connection looks up once for each table is not the statement's
        await self.world.all(QUERIES[name].sql, *arguments)
        statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {QUERIES[name].sql}"
        plan = json.loads(await self.world.value(statement, *arguments))[0]["Plan"]
        return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Scene]:
    """The scene of one test."""
    connection = await asyncpg.connect(database.url)
    try:
        async with database.store("horde_dispatch") as store:
            world = World(connection)
            yield Scene(store, world, await world.account("requester"))
    finally:
        await connection.close()


@pytest.fixture
async def scene(database: Database) -> AsyncIterator[Scene]:
    """An empty queue."""
    async with opened(database) as made:
        yield made


async def test_every_power_of_two_has_the_bucket_of_its_own_size(scene: Scene) -> None:
    for power in range(4, 15):
        await scene.world.chat(scene.requester, max_length=2**power, max_context_length=2 ** (power + 6))

    rows = await scene.world.all(
        """SELECT l.length_bucket, l.context_bucket, m.max_length, m.max_context_length
           FROM dispatch.wp_models m JOIN dispatch.lanes l ON l.id = m.lane_id"""
    )

    assert len(rows) == 11
    for row in rows:
        assert (row["length_bucket"], row["context_bucket"]) == (row["max_length"], row["max_context_length"])


@pytest.mark.parametrize("limit", [63, 64, 65, 600, 1023, 1024])
async def test_exactly_the_requests_within_the_limits_are_found(scene: Scene, limit: int) -> None:
    lengths = [16, 63, 64, 65, 512, 513, 600, 601, 1023, 1024]
    requests = {length: await scene.world.chat(scene.requester, max_length=length) for length in lengths}

    found = set(await scene.found(chat_length=limit))

    assert found == {request for length, request in requests.items() if length <= limit}


async def test_behind_thousands_that_do_not_fit_in_the_same_bucket_the_one_that_fits_is_found(scene: Scene) -> None:
    await scene.fill(1500, max_length=1024)
    wanted = await scene.world.chat(scene.requester, max_length=550, priority=-1000)

    assert await scene.found(chat_length=600) == [wanted]


MIXES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all fit": ({}, {}),
    "none by feature": ({"chat_required_features": ["vision"]}, {}),
    "none by length": ({"max_length": 2048}, {}),
    "none by a length in the same bucket": ({"max_length": 1024}, {"chat_length": 600}),
    "none by context": ({"max_context_length": 4000}, {"chat_context": 3000}),
    "none by model": ({"models": ["another"]}, {}),
    "none by target": ({"workers": [str(uuid.uuid4())]}, {}),
    "none by trust": ({"trusted_workers": True}, {}),
}


@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: mix.replace(" ", "_"))
async def test_a_read_touches_few_pages_however_long_the_queue_is(scene: Scene, mix: str) -> None:
    columns, changed = MIXES[mix]
    await scene.fill(3000, **columns)
    await scene.world.chat(scene.requester, max_length=64)

    assert await scene.buffers(**changed) < 400
    assert await scene.idle_buffers(**changed) < 40


@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: mix.replace(" ", "_"))
async def test_an_idle_worker_is_told_that_nothing_fits_when_its_limits_say_so(scene: Scene, mix: str) -> None:
    assert await scene.nothing_fits()
    columns, changed = MIXES[mix]
    await scene.world.chat(scene.requester, **columns)
    in_a_lane_that_fits = mix in {"all fit", "none by a length in the same bucket", "none by context", "none by trust"}
    assert await scene.nothing_fits(**changed) is not in_a_lane_that_fits


async def test_an_idle_worker_is_never_told_that_nothing_fits_when_something_does(scene: Scene) -> None:
    requests: list[dict[str, Any]] = [
        *({"max_length": length} for length in (1, 2, 3, 511, 512, 513, 1023, 1024)),
        *({"max_context_length": context} for context in (80, 4095, 4096)),
        {"workers": [str(WORKER)]},
        {"chat_required_features": ["seed"]},
        {"has_images": True},
        {"validated_backends": True},
    ]
    limits = [{"chat_length": length, "chat_context": context} for length in (1, 512, 1000) for context in (80, 4095)]
    fits: list[dict[str, Any]] = [*limits, {}, {"owner_only": True}, {"trusted": True}, {"paused": True}]
    for columns in requests:
        request = await scene.world.chat(scene.requester, **columns)
        for changed in [*fits, *({**one, "priority_users": (scene.requester.id,)} for one in fits)]:
            assert not (await scene.found(**changed) and await scene.nothing_fits(**changed)), (columns, changed)
        await scene.world.run("DELETE FROM dispatch.waiting_prompts WHERE id = $1", request)
    await scene.world.text(scene.requester, "Once")
    assert await scene.found()
    assert not await scene.nothing_fits()


async def test_an_idle_lane_is_removed_and_a_used_one_stays(scene: Scene) -> None:
    gone = await scene.world.chat(scene.requester, models=["a"])
    await scene.world.chat(scene.requester, models=["b"])
    await scene.world.run("DELETE FROM dispatch.waiting_prompts WHERE id = $1", gone)

    removed = await queue.remove_idle_lanes(scene.store, datetime.now(UTC) + timedelta(seconds=5))

    assert removed == 1
    assert await scene.world.value("SELECT array_agg(model::text) FROM dispatch.lanes") == ["b"]


async def test_a_request_enters_a_lane_of_its_own_while_the_idle_one_is_removed(scene: Scene) -> None:
    gone = await scene.world.chat(scene.requester)
    await scene.world.run("DELETE FROM dispatch.waiting_prompts WHERE id = $1", gone)
    await queue.remove_idle_lanes(scene.store, datetime.now(UTC) + timedelta(seconds=5))

    wanted = await scene.world.chat(scene.requester)

    assert await scene.found() == [wanted]


async def test_a_speed_is_the_mean_of_the_newest_twenty_samples(scene: Scene) -> None:
    await scene.world.run("INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')", WORKER)
    now = datetime.now(UTC)
    samples = [(WORKER, float(age), now - timedelta(seconds=age)) for age in range(30)]
    await scene.world.many(
        "INSERT INTO dispatch.worker_performances (worker_id, performance, created) VALUES ($1, $2, $3)", samples
    )

    await workers.refresh_speeds(scene.store, now - timedelta(seconds=180), 20)
    await workers.forget_old_samples(scene.store, 20, now - timedelta(hours=1))

    assert (await scene.world.worker("w"))["speed"] == 9.5
    assert await scene.world.value("SELECT count(*) FROM dispatch.worker_performances") == 20


async def test_samples_of_nothing_leave_a_worker_unmeasured(scene: Scene) -> None:
    await scene.world.run("INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')", WORKER)
    await scene.world.run("INSERT INTO dispatch.worker_performances (worker_id, performance) VALUES ($1, 0)", WORKER)

    await workers.refresh_speeds(scene.store, datetime.now(UTC) - timedelta(seconds=180), 20)

    assert (await scene.world.worker("w"))["speed"] is None


async def test_jobs_given_back_wait_again(scene: Scene) -> None:
    request = await scene.world.text(scene.requester, jobs=3)
    await scene.world.run("INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')", WORKER)
    taken = await queue.claim(scene.store, [Wanted(request, MODEL)], _handout(3), datetime.now(UTC))
    assert taken is not None

    for _ in range(2):
        await queue.give_back(scene.store, request, taken.generation_ids, datetime.now(UTC))

    assert (await scene.world.request(request))["n"] == 3
    assert await scene.world.is_waiting(request)
    assert await scene.world.generations(request) == []


async def test_a_claim_of_a_request_that_cannot_be_batched_takes_one(scene: Scene) -> None:
    request = await scene.world.text(scene.requester, jobs=3, disable_batching=True)
    await scene.world.run("INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')", WORKER)

    taken = await queue.claim(scene.store, [Wanted(request, MODEL)], _handout(3), datetime.now(UTC))

    assert taken is not None
    assert len(taken.generation_ids) == 1
    assert (await scene.world.request(request))["n"] == 2


async def test_a_request_that_somebody_holds_is_passed_over_without_waiting(scene: Scene) -> None:
    held, free = await scene.world.text(scene.requester), await scene.world.text(scene.requester)
    await scene.world.run("INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')", WORKER)
    wanted = [Wanted(held, MODEL), Wanted(free, "another")]
    async with scene.store.transaction() as unit:
        assert await queue.claim(unit, wanted[:1], _handout(1), datetime.now(UTC)) is not None
        taken = await queue.claim(scene.store, wanted, _handout(1), datetime.now(UTC))
        assert taken is not None
        assert (taken.request_id, taken.model) == (free, "another")
        assert await queue.claim(scene.store, wanted, _handout(1), datetime.now(UTC)) is None


def _handout(jobs: int) -> Handout:
    return Handout(
        generation_ids=[uuid.uuid4() for _ in range(jobs)],
        worker_id=WORKER,
        now=datetime.now(UTC),
        job_ttl=150,
        lease_cap=200,
        worker_trusted=False,
        capacity=1200.0,
        assigned_max_context_length=4096,
        assigned_max_length=1024,
        image_transport=None,
        fetches_messages=False,
    )
