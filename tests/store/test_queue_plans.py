"""The review queues among twenty thousand accounts and workers: each reads its own index, and little besides."""

import json
from datetime import timedelta
from typing import Any

import asyncpg

from horde.store import queries
from tests.servers import Database

ACCOUNTS = """
INSERT INTO admission.users (username, oauth_id, api_key, created, evaluating_kudos)
SELECT 'a' || n, 'o' || n, 'k' || n, now() - interval '30 days', CASE WHEN n % 200 = 0 THEN n ELSE n % 50 END
FROM generate_series(1, 20000) AS n
"""
WORKERS = """
INSERT INTO dispatch.workers (user_id, name, paused) SELECT n, 'w' || n, n % 500 = 0 FROM generate_series(1, 20000) AS n
"""
ONLINE = timedelta(minutes=5)


async def plan(database: Database, role: str, sql: str, *args: Any) -> str:
    connection = await asyncpg.connect(database.url_for(role))
    try:
        return str(await connection.fetchval(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", *args))
    finally:
        await connection.close()


def rows_of(node: dict[str, Any], relation: str) -> float:
    """How many rows of a table a plan looked at."""
    own = 0.0
    if node.get("Relation Name") == relation:
        own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return own + sum(rows_of(inner, relation) for inner in node.get("Plans", ()))


async def test_each_queue_reads_its_own_index(database: Database) -> None:
    owner = await asyncpg.connect(database.url)
    await owner.execute(ACCOUNTS)
    await owner.execute(WORKERS)
    await owner.execute("VACUUM ANALYZE admission.users, dispatch.workers")
    now = await owner.fetchval("SELECT now()")
    await owner.close()
    sql = queries("services.admission")["list_promotions"].sql
    for is_blocked in (False, True):
        made = await plan(database, "horde_admission", sql, 1000, is_blocked, 100, ONLINE, 5)
        assert "ix_users_evaluating_kudos_rank" in made
        assert rows_of(json.loads(made)[0]["Plan"], "users") <= 400
    sql = queries("services.dispatch")["list_paused_workers"].sql
    made = await plan(database, "horde_dispatch", sql, None, None, None, now, "last_check_in", 100)
    assert "ix_workers_paused" in made
    assert rows_of(json.loads(made)[0]["Plan"], "workers") <= 100
