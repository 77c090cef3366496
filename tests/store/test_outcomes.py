"""The SQL functions of outcomes: what holds after any order of events, and what the hot statements read."""

import json
import random
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from horde.contract import pricing
from horde.store import Store
from services.dispatch.repo import QUERIES, outcomes
from services.dispatch.repo import status as statuses
from services.dispatch.repo.outcomes import Measured
from services.dispatch.rules.submission import Pay, Reply
from tests.fakes.dispatch_scene import NOW, Account, Scene
from tests.servers import Database

TTL = timedelta(minutes=20)
A_REPLY = Reply("text", None, 0, censored=False, gen_metadata=None, seed=0)


@pytest.fixture
async def scene(database: Database) -> AsyncIterator[Scene]:
    connection = await asyncpg.connect(database.url)
    yield Scene(connection)
    await connection.close()


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    async with database.store("horde_dispatch") as opened:
        yield opened


class Walk:
    """Random events on a few requests, and a check of everything that must hold after each."""

    def __init__(self, scene: Scene, store: Store, chance: random.Random) -> None:
        self.scene = scene
        self.store = store
        self.chance = chance
        self.generations: list[uuid.UUID] = []
        self.requests: list[uuid.UUID] = []

    async def set_up(self) -> None:
        asker, self.owner = await self.scene.account(), await self.scene.account()
        self.workers = [await self.scene.worker(owner) for owner in (self.owner, asker)]
        for jobs in (1, 1, 3):
            self.requests.append(await self.scene.request(asker, jobs=jobs, hold=500))

    async def step(self) -> None:
        request = self.chance.choice(self.requests)
        match self.chance.choice(["pop", "pop", "reply", "fault", "lapse", "cancel"]):
            case "pop":
                await self._pop(request)
            case "reply" if self.generations:
                amounts = Pay(self.chance.randint(1, 900), self.chance.randint(0, 900))
                generation = self.chance.choice(self.generations)
                await outcomes.store_result(
                    self.store, generation, A_REPLY, amounts, Measured(20, 5.0), now=NOW, ttl=TTL
                )
            case "fault" if self.generations:
                generation = self.chance.choice(self.generations)
                await outcomes.fault_generation(self.store, generation, limit=2, only_lapsed=False, now=NOW)
            case "lapse" if self.generations:
                generation = self.chance.choice(self.generations)
                later = NOW + timedelta(seconds=self.chance.choice([100, 200]))
                await outcomes.fault_generation(self.store, generation, limit=2, only_lapsed=True, now=later)
            case "cancel" if self.chance.random() < 0.2:
                await self._cancel(request)

    async def _pop(self, request: uuid.UUID) -> None:
        row = await self.scene.row("dispatch.waiting_prompts", request)
        if row["n"] > 0 and not row["faulted"] and not row["cancelled"]:
            streamed = self.chance.random() < 0.5
            worker = self.chance.choice(self.workers)
            self.generations.append(await self.scene.generation(request, worker, streamed=streamed))

    async def _cancel(self, request: uuid.UUID) -> None:
        async with self.store.transaction() as tx:
            if await outcomes.claim_cancel(tx, request):
                for running in await outcomes.list_running(tx, request):
                    if running.streamed:
                        await outcomes.settle_cancelled(tx, running.id, 80, Pay(40, 40), now=NOW, ttl=TTL)
                await outcomes.conclude(tx, [request], NOW)

    async def check(self) -> None:
        db = self.scene.db
        assert await self.scene.ledger_sum() == 0
        wrong: int = await db.fetchval(
            "SELECT count(*) FROM admission.users u WHERE (u.kudos, u.evaluating_kudos) <> (SELECT"
            " coalesce(sum(amount) FILTER (WHERE account = 'user'), 0),"
            " coalesce(sum(amount) FILTER (WHERE account = 'escrow'), 0)"
            " FROM admission.kudos_ledger l WHERE l.user_id = u.id)"
        )
        assert wrong == 0
        for request in self.requests:
            await self._check_request(request)

    async def _check_request(self, request: uuid.UUID) -> None:
        standing = await statuses.read_status(self.store, request, chat=True, unmeasured_speed=10.0, now=NOW)
        assert standing is not None
        tally = standing.tally
        if not tally.cancelled:
            # a fault after the request was faulted gives no job back
            lost = tally.restarted if tally.faulted else 0
            assert tally.jobs - lost <= tally.n + tally.processing + tally.finished <= tally.jobs
        row = await self.scene.row("dispatch.wp_models", request, "wp_id")
        assert row["waiting"] == tally.is_queued
        hold = await self.scene.row("admission.kudos_reservations", request, "request_id")
        if tally.is_done and tally.processing == 0:
            assert hold["released_at"] is not None
        settled = await self.scene.db.fetchval(
            "SELECT coalesce(sum(kudos), 0)::bigint FROM dispatch.processing_gens WHERE wp_id = $1", request
        )
        assert standing.consumed_kudos == settled


@pytest.mark.parametrize("seed", range(6))
async def test_after_any_order_of_events_work_and_money_add_up(scene: Scene, store: Store, seed: int) -> None:
    walk = Walk(scene, store, random.Random(seed))
    await walk.set_up()
    for _ in range(50):
        await walk.step()
        await walk.check()


async def test_a_settled_generation_can_be_neither_stored_nor_faulted(scene: Scene, store: Store) -> None:
    owner = await scene.account()
    request = await scene.request(owner)
    generation = await scene.generation(request, await scene.worker(owner), streamed=True)
    async with store.transaction() as tx:
        assert await outcomes.claim_cancel(tx, request)
        assert await outcomes.settle_cancelled(tx, generation, 0, Pay(10, 10), now=NOW, ttl=TTL)
        assert not await outcomes.settle_cancelled(tx, generation, 0, Pay(10, 10), now=NOW, ttl=TTL)
    late = await outcomes.store_result(store, generation, A_REPLY, Pay(9, 9), Measured(20, 5.0), now=NOW, ttl=TTL)
    fault = await outcomes.fault_generation(store, generation, limit=2, only_lapsed=False, now=NOW)
    assert (late.outcome, fault.outcome) == ("aborted", "ended")
    assert (await scene.row("dispatch.waiting_prompts", request))["consumed_kudos"] == 10 + pricing.BURN


async def test_a_use_of_a_request_prolongs_its_life(scene: Scene, store: Store) -> None:
    owner = await scene.account()
    request = await scene.request(owner, jobs=2)
    generation = await scene.generation(request, await scene.worker(owner))
    later = NOW + timedelta(minutes=5)
    await outcomes.store_result(store, generation, A_REPLY, Pay(9, 9), Measured(20, 5.0), now=later, ttl=TTL)
    assert (await scene.row("dispatch.waiting_prompts", request))["expiry"] == later + TTL


async def fill(scene: Scene, user: Account, amount: int) -> uuid.UUID:
    """A deep queue, and the id of the request in its middle."""
    await scene.db.execute(
        "INSERT INTO dispatch.waiting_prompts (id, is_chat, user_id, created, expiry, active, n, jobs, things,"
        " total_usage, rank, prompt, params, gen_payload, max_length, max_context_length)"
        " SELECT gen_random_uuid(), true, $1, $2::timestamptz, $2::timestamptz + interval '20 minutes', true,"
        " 1, 1, 512, 512, -i, '', '{}',"
        " '{}', 512, 2048 FROM generate_series(1, $3::int) AS i",
        user.id,
        NOW,
        amount,
    )
    await scene.db.execute("VACUUM ANALYZE dispatch.waiting_prompts")
    middle: uuid.UUID = await scene.db.fetchval(
        "SELECT id FROM dispatch.waiting_prompts WHERE rank = $1", -(amount // 2)
    )
    return middle


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("read_status", "$1::uuid, true, 10, now()"),
        ("list_lapsed", "now(), 200"),
        ("read_reply_target", "$1::uuid, 'no key'"),
    ],
)
async def test_a_hot_statement_reads_no_more_than_its_bound_of_a_deep_queue(
    scene: Scene, query: str, places: str
) -> None:
    middle = await fill(scene, await scene.account(), 30_000)
    prepared = QUERIES[query].sql
    values = places.split(", ")
    for number in range(len(values), 0, -1):
        prepared = prepared.replace(f"${number}", f"({values[number - 1].replace('$1::uuid', repr(str(middle)))})")
    plan = json.loads(await scene.db.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {prepared}"))
    assert "Seq Scan on waiting_prompts" not in json.dumps(plan)
    assert max(_rows_read(plan[0]["Plan"])) <= 10_000


def _rows_read(node: dict[str, object]) -> list[float]:
    """How many rows each scan of the plan touched, rows it dropped included."""
    removed = node.get("Rows Removed by Filter", 0)
    loops, rows = node["Actual Loops"], node["Actual Rows"]
    assert isinstance(removed, int | float)
    assert isinstance(loops, int | float)
    assert isinstance(rows, int | float)
    below = node.get("Plans", [])
    assert isinstance(below, list)
    return [(rows + removed) * loops, *(read for inner in below for read in _rows_read(inner))]
