"""A post touches PostgreSQL only when it lengthens the job's lease: the database's own count of statements says so."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator

import asyncpg
import httpx
import pytest

from tests.system.hand_worker import HandWorker
from tests.system.services import Services

MODEL = "test/Counted-7B"
POSTS = 40
RENEWAL = "SET job_ttl = greatest"
_COUNTS = """
SELECT query, sum(calls)::int AS calls FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY query
"""


@pytest.fixture
def worker(services: Services) -> Iterator[HandWorker]:
    made = HandWorker(services.url, services.account("counted_owner").api_key, MODEL)
    made.pop(until_there_is_one=False)
    yield made
    made.close()


async def statements(services: Services) -> Counter[str]:
    """How often each statement ran in this database so far."""
    connection = await asyncpg.connect(services.database_url)
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        return Counter({row["query"]: row["calls"] for row in await connection.fetch(_COUNTS)})
    finally:
        await connection.close()


def granted(services: Services) -> int:
    """How many posts of trusted workers lengthened a lease so far."""
    line = r'horde_text_lease_renewals_total\{outcome="granted",worker_trusted="true"\} (\d+)'
    found = re.search(line, services.metrics("progress"))
    return int(found.group(1)) if found else 0


def test_only_a_post_that_renews_the_lease_touches_postgres(services: Services, worker: HandWorker) -> None:
    key = services.account("counted_client").api_key
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    asked = httpx.post(f"{services.url}/api/v2/generate/chat/async", json=body, headers={"apikey": key}, timeout=30)
    assert asked.status_code == 202
    job = worker.pop()
    before, renewed = asyncio.run(statements(services)), granted(services)
    for seq in range(1, POSTS + 1):
        assert worker.post(job, seq, "word ").status_code == 200
    ran = asyncio.run(statements(services)) - before
    renewals = sum(calls for query, calls in ran.items() if RENEWAL in query)
    assert renewals == granted(services) - renewed
    assert 1 <= renewals < POSTS
    # the loops of the services run meanwhile, none of them as often as there were posts
    assert {query: calls for query, calls in ran.items() if calls >= POSTS} == {}
    worker.submit(job, "word " * POSTS)
