"""The hot statements on a long queue: that they read it by index, and how few pages they touch, for every mix."""

import json
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from horde.cli.bench.crowd import MODEL
from horde.cli.bench.queue import CONTEXT, LENGTH, MIXES, Queue
from horde.settings import PostgresSettings
from horde.store import Store
from services.dispatch.repo import QUERIES, queue
from services.dispatch.rules.matching import Fit
from services.dispatch.rules.status import HEAD_STEP, QUEUE_BOUND
from tests.servers import Database

WORKER = uuid.uuid4()
FIT = Fit(
    priority_users=(999_999,),
    owner_only=False,
    chat_model=MODEL,
    features=("prompt_overflow_refused",),
    image_transport=None,
    chat_length=LENGTH,
    chat_context=CONTEXT,
    tools_max_temperature=None,
    text_models=(MODEL, "bench/Own-1"),
    text_length=LENGTH,
    text_context=CONTEXT,
    softprompts=(),
    trusted=False,
    validated=True,
    speed=1.0,
    paused=False,
    capacity=1200.0,
)

SHORT, LONG = 1_000, 20_000

_LONG_TABLES = {"waiting_prompts", "wp_models", "wp_allowed_workers"}


@dataclass(frozen=True)
class Plan:
    """What a statement did: the pages it touched, the nodes of its plan."""

    pages: int
    nodes: list[Mapping[str, Any]]

    @property
    def scanned(self) -> set[str]:
        """Long tables that were read from one end to the other; an empty one may be."""
        return {
            node["Relation Name"]
            for node in self.nodes
            if node["Node Type"] == "Seq Scan" and node["Relation Name"] in _LONG_TABLES and _read(node) > 0
        }

    @property
    def rows(self) -> int:
        """The most rows that one node gave or threw away."""
        return max(map(_read, self.nodes))


def _read(node: Mapping[str, Any]) -> int:
    return int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])


class Scene:
    """A queue of one mix, as dispatch and admission see it."""

    def __init__(self, filling: Queue, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self.filling = filling
        self.connection = connection

    async def plan(self, sql: str, *args: object) -> Plan:
        """Runs a statement and takes back what it did."""
        async with self._undone():
            # what a connection looks up once for each table is not the statement's
            await self.connection.fetch(sql, *args)
        async with self._undone():
            said = await self.connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *args)
        root = json.loads(said)[0]["Plan"]
        return Plan(int(root["Shared Hit Blocks"]) + int(root["Shared Read Blocks"]), list(_nodes(root)))

    async def found(self, **changed: Any) -> Plan:
        """A worker's look at the queue."""
        sought = queue.sought(WORKER, replace(FIT, **changed), datetime.now(UTC), 20)
        return await self.plan(await self.look(), *sought)

    async def look(self) -> str:
        """The statement inside dispatch.find_candidates_v3, in the open."""
        function = await self.connection.fetchrow(
            """SELECT pg_get_function_arguments(oid), pg_get_function_result(oid), prosrc FROM pg_proc
               WHERE oid = 'dispatch.find_candidates_v3'::regproc"""
        )
        assert function is not None
        arguments, result, source = function
        body = source.partition("RETURN QUERY")[2].rpartition(";")[0]
        await self.connection.execute(
            f"CREATE OR REPLACE FUNCTION pg_temp.look({arguments}) RETURNS {result} LANGUAGE sql STABLE AS $${body}$$"
        )
        return QUERIES["find_candidates"].sql.replace("dispatch.find_candidates_v3", "pg_temp.look")

    @asynccontextmanager
    async def _undone(self) -> AsyncIterator[None]:
        transaction = self.connection.transaction()
        await transaction.start()
        try:
            yield
        finally:
            await transaction.rollback()


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


@asynccontextmanager
async def _scene(database: Database, mix: str) -> AsyncIterator[Scene]:
    # without looking every foreign key up, which a fill of this size would mostly do
    settings = PostgresSettings(database_url=f"{database.url}?session_replication_role=replica", database_pool_size=1)
    connection = await asyncpg.connect(database.url)
    try:
        async with Store.open(settings, application_name="test-filling") as store:
            yield Scene(Queue(store, mix, reserve=100), connection)
    finally:
        await connection.close()


@pytest.mark.parametrize("mix", MIXES)
async def test_a_look_at_a_long_queue_reads_no_more_than_at_a_short_one(database: Database, mix: str) -> None:
    async with _scene(database, mix) as scene:
        await scene.filling.grow(SHORT)
        short = await scene.found()
        await scene.filling.grow(LONG)
        long = await scene.found()

        assert long.scanned == set()
        assert long.rows <= 500
        assert long.pages <= 1.5 * short.pages + 50
        assert long.pages <= 400


async def test_a_worker_whom_a_long_queue_names_looks_at_the_best_of_it_alone(database: Database) -> None:
    async with _scene(database, "target") as scene:
        await scene.filling.grow(LONG)
        await scene.connection.execute("UPDATE dispatch.wp_allowed_workers SET worker_id = $1", WORKER)
        await scene.connection.execute("VACUUM ANALYZE dispatch.wp_allowed_workers")

        plan = await scene.found()

        assert plan.scanned == set()
        assert plan.rows <= 500
        assert plan.pages <= 400


async def test_an_owner_with_a_long_queue_of_its_own_looks_at_what_fits_alone(database: Database) -> None:
    async with _scene(database, "models") as scene:
        await scene.filling.grow(LONG)
        for table in ("waiting_prompts", "wp_models"):
            await scene.connection.execute(f"UPDATE dispatch.{table} SET user_id = 7")  # noqa: S608 - two names
            await scene.connection.execute(f"VACUUM ANALYZE dispatch.{table}")

        plan = await scene.found(priority_users=(7, *range(1_000, 1_500)))

        assert plan.scanned == set()
        # one probe for each priority user that has nothing
        assert plan.rows <= 1_000


async def test_hot_statements_do_not_read_the_queue(database: Database) -> None:
    """All but the look: what a claim, a status, a submission and the loops ask."""
    async with _scene(database, "all") as scene:
        await scene.filling.grow(LONG)
        now = datetime.now(UTC)
        await scene.connection.execute(
            """INSERT INTO dispatch.workers (id, user_id, name, models, accepts_chat_jobs, chat_model_id, max_length,
                   max_context_length, chat_max_length, chat_max_context_length)
               VALUES ($1, 1, 'w', ARRAY[$2], true, $2, 1024, 8192, 1024, 8192)""",
            WORKER,
            MODEL,
        )
        last = await scene.connection.fetchval(
            "SELECT id FROM dispatch.waiting_prompts WHERE is_chat ORDER BY rank LIMIT 1"
        )
        handout = ([uuid.uuid4()], WORKER, [MODEL], now, 150, 200, False, 1200.0, CONTEXT, LENGTH, None, now, False)
        statements: dict[str, tuple[int, tuple[object, ...]]] = {
            "claim_jobs": (60, ([last], *handout)),
            # the position alone walks the head of the queue: an index entry for each request before
            "read_status": (300, (last, True, 10.0, now)),
            "remove_expired": (40, (now, 500)),
            "list_lapsed": (40, (now, 500)),
            "tell_waiting": (40, ([last],)),
            "list_standing": (200, ()),
        }

        for name, (most, arguments) in statements.items():
            plan = await scene.plan(QUERIES[name].sql, *arguments)
            assert (name, plan.scanned) == (name, set())
            assert (name, plan.pages) <= (name, most)


async def test_sums_over_the_queue_stop_at_their_bound(database: Database) -> None:
    async with _scene(database, "all") as scene:
        await scene.filling.grow(LONG)

        head = await scene.plan(QUERIES["read_queue_head"].sql, QUEUE_BOUND, HEAD_STEP)

        assert head.scanned == set()
        assert head.rows <= QUEUE_BOUND


async def test_the_load_of_a_queue_is_summed_up_to_its_bound(database: Database) -> None:
    async with _scene(database, "all") as scene:
        await scene.filling.grow(LONG + 5_000)
        await scene.connection.execute(
            """INSERT INTO dispatch.workers (id, user_id, name, models, max_length, max_context_length)
               VALUES ($1, 1, 'w', $2, 1024, 8192)""",
            WORKER,
            [MODEL],
        )
        text = await scene.connection.fetchval("SELECT count(*) FROM dispatch.waiting_prompts WHERE NOT is_chat")

        assert await _load(scene) == text
        await scene.connection.execute(
            """UPDATE dispatch.workers SET accepts_chat_jobs = true, chat_model_id = $1, chat_max_length = 1024,
                   chat_max_context_length = 8192""",
            MODEL,
        )
        assert await _load(scene) == LONG


async def _load(scene: Scene) -> int:
    jobs: int = await scene.connection.fetchval("SELECT jobs FROM dispatch.competing_load_v3($1)", [WORKER])
    return jobs


async def test_a_plan_made_on_an_empty_queue_stays_good_when_it_grows(database: Database) -> None:
    """A connection keeps its plans; nobody tells it that the tables have grown before the next ANALYZE."""
    async with _scene(database, "features") as scene:
        for table in ("waiting_prompts", "wp_models", "lanes", "wp_allowed_workers"):
            await scene.connection.execute(f"ALTER TABLE dispatch.{table} SET (autovacuum_enabled = false)")
        await scene.connection.execute("SET plan_cache_mode = force_generic_plan")
        look = await scene.connection.prepare(await scene.look())
        sought = queue.sought(WORKER, FIT, datetime.now(UTC) - timedelta(days=1), 20)
        await look.fetch(*sought)
        await scene.filling.add(5_000)

        async with scene.connection.transaction():
            before = await _scanned_rows(scene.connection)
            found = await look.fetch(*sought)

            assert found[0]["id"] is not None
            assert await _scanned_rows(scene.connection) == before


async def test_plans_for_one_request_made_on_an_empty_queue_read_that_request_alone(database: Database) -> None:
    """What claims, tells of and reads one request finds it by its key, however little was known of the queue then."""
    async with _scene(database, "all") as scene:
        for table in ("waiting_prompts", "wp_models", "processing_gens"):
            await scene.connection.execute(f"ALTER TABLE dispatch.{table} SET (autovacuum_enabled = false)")
        await scene.connection.execute(
            "INSERT INTO dispatch.workers (id, user_id, name) VALUES ($1, 1, 'w')",
            WORKER,
        )
        now = datetime.now(UTC) - timedelta(days=1)

        def arguments(request: uuid.UUID) -> dict[str, tuple[object, ...]]:
            handout = ([uuid.uuid4()], WORKER, [MODEL], now, 150, 200, False, 1200.0, CONTEXT, LENGTH, None, now, False)
            return {
                "tell_waiting": ([request],),
                "read_status": (request, True, 10.0, now),
                "claim_jobs": ([request], *handout),
            }

        async with _connected(database.url_for("horde_dispatch")) as dispatch:
            prepared = {name: await dispatch.prepare(QUERIES[name].sql) for name in arguments(WORKER)}
            for name, given in arguments(uuid.uuid4()).items():
                await prepared[name].fetch(*given)
            await scene.filling.add(5_000)
            first = await scene.connection.fetchval(
                "SELECT id FROM dispatch.waiting_prompts WHERE is_chat ORDER BY rank DESC LIMIT 1"
            )

            for name, given in arguments(first).items():
                async with dispatch.transaction():
                    before = await _read_entries(dispatch)
                    assert await prepared[name].fetch(*given), name
                    assert (name, await _read_entries(dispatch) - before) <= (name, 20)


@asynccontextmanager
async def _connected(url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _read_entries(connection: "asyncpg.Connection[asyncpg.Record]") -> int:
    """Rows and index entries of the queue's tables that this connection has read, inside its transaction, so far."""
    read: int = await connection.fetchval(
        """SELECT sum(pg_stat_get_xact_tuples_returned(r.oid))::bigint FROM (
               SELECT t.oid FROM pg_class t WHERE t.relnamespace = 'dispatch'::regnamespace AND t.relname = ANY ($1)
               UNION ALL
               SELECT i.indexrelid FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid
               WHERE t.relnamespace = 'dispatch'::regnamespace AND t.relname = ANY ($1)) r""",
        ["waiting_prompts", "wp_models", "processing_gens"],
    )
    return read


async def _scanned_rows(connection: "asyncpg.Connection[asyncpg.Record]") -> int:
    """Rows of the long tables that this connection has read from end to end, inside its transaction, so far."""
    scanned: int = await connection.fetchval(
        """SELECT sum(seq_tup_read)::bigint FROM pg_stat_xact_user_tables
           WHERE schemaname = 'dispatch' AND relname = ANY ($1)""",
        list(_LONG_TABLES),
    )
    return scanned
