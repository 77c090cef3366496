"""Admission's statements and doors on a real schema: what its role may run, and what the doors answer."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from horde.store import queries
from tests.servers import Database

type Sql = asyncpg.Connection[asyncpg.Record]


@pytest.fixture
async def sql(database: Database) -> AsyncIterator[Sql]:
    """The owner's connection, with the anonymous account."""
    connection = await asyncpg.connect(database.url)
    await connection.execute("SELECT admission.ensure_anonymous_v1('anonymous')")
    yield connection
    await connection.close()


async def test_every_statement_of_the_command_line_can_be_planned_by_the_owner(sql: Sql) -> None:
    for query in queries("horde.cli").values():
        await sql.prepare(query.sql)


async def worker(sql: Sql, **columns: Any) -> UUID:
    """One online worker."""
    made = uuid4()
    row = {"id": made, "user_id": 0, "name": str(made), **columns}
    places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    statement = f"INSERT INTO dispatch.workers ({', '.join(row)}) VALUES ({places})"  # noqa: S608 - a test's own names
    await sql.execute(statement, *row.values())
    return made


async def request(sql: Sql, *models: str, is_chat: bool = True, max_length: int = 100, **columns: Any) -> None:
    """One waiting request of `max_length` tokens."""
    now = datetime.now(UTC)
    row = {
        "id": str(uuid4()),
        "is_chat": is_chat,
        "user_id": 0,
        "models": models,
        "jobs": 1,
        "created": now.isoformat(),
        "expiry": (now + timedelta(minutes=20)).isoformat(),
        "params": {},
        "gen_payload": {},
        "max_length": max_length,
        "max_context_length": 2048,
        **columns,
    }
    await sql.execute("SELECT dispatch.enqueue_v2($1, 'p', 'p', '[]', 0)", json.dumps(row))


async def load(sql: Sql, *workers: UUID) -> tuple[int, int]:
    """Tokens and jobs that wait for these workers."""
    row = await sql.fetchrow("SELECT * FROM dispatch.competing_load_v1($1)", list(workers))
    assert row is not None
    return row["tokens"], row["jobs"]


CHAT = {
    "accepts_chat_jobs": True,
    "chat_model_id": "a",
    "chat_max_length": 1000,
    "chat_max_context_length": 4096,
    "models": ["a"],
    "max_length": 100,
    "max_context_length": 2048,
}


async def test_what_competes_is_what_one_of_the_workers_could_take(sql: Sql) -> None:
    both = await worker(sql, **CHAT)
    chat_only = await worker(sql, **{**CHAT, "accepts_prompt_jobs": False})
    text_only = await worker(sql, models=["a"], max_length=100, max_context_length=2048)
    await request(sql, "a")
    await request(sql, "a", "b", max_length=1000)
    await request(sql, "a", max_length=1001)
    await request(sql, "a", max_context_length=4097)
    await request(sql, "b")
    await request(sql, "a", is_chat=False, max_length=80)
    await request(sql, is_chat=False, max_length=40)
    await request(sql, "a", is_chat=False, max_length=101)
    assert await load(sql, chat_only) == (1100, 2)
    assert await load(sql, text_only) == (120, 2)
    assert await load(sql, both) == await load(sql, both, chat_only, text_only) == (1220, 4)
    assert await load(sql) == (0, 0)


async def test_a_request_that_names_two_served_models_competes_once(sql: Sql) -> None:
    one = await worker(sql, **CHAT)
    other = await worker(sql, **{**CHAT, "chat_model_id": "b", "models": ["b"]})
    await request(sql, "a", "b", jobs=3)
    assert await load(sql, one, other) == (300, 3)


async def test_what_was_handed_out_or_faulted_no_longer_competes(sql: Sql) -> None:
    one = await worker(sql, **CHAT)
    await request(sql, "a")
    await request(sql, "a")
    await sql.execute(
        "UPDATE dispatch.waiting_prompts SET faulted = true WHERE id = (SELECT min(id::text)::uuid "
        "FROM dispatch.waiting_prompts)"
    )
    assert await load(sql, one) == (100, 1)
    await sql.execute("UPDATE dispatch.wp_models SET waiting = false")
    assert await load(sql, one) == (0, 0)


async def test_only_workers_that_do_not_exist_are_missing(sql: Sql) -> None:
    here, gone = await worker(sql), uuid4()
    assert await sql.fetchval("SELECT dispatch.missing_workers_v1($1)", [here, gone]) == [gone]
    assert await sql.fetchval("SELECT dispatch.missing_workers_v1('{}')") == []


FEATURES = ["vision", "tools", "seed"]


def some(dice: random.Random, values: Sequence[str], chance: float) -> list[str]:
    """Those of the values that the dice choose."""
    return [value for value in values if dice.random() < chance]


async def random_worker(sql: Sql, dice: random.Random, owner: int) -> UUID:
    """A worker of any declaration."""
    return await worker(
        sql,
        user_id=owner,
        threads=dice.choice([0, 1, 3]),
        speed=dice.choice([None, 0.5, 4.0, 50.0]),
        accepts_chat_jobs=dice.random() < 0.7,
        accepts_prompt_jobs=dice.random() < 0.7,
        chat_model_id=dice.choice("ab"),
        chat_max_length=dice.choice([80, 1000]),
        chat_max_context_length=dice.choice([1024, 4096]),
        chat_features=some(dice, FEATURES, 0.6),
        chat_tools_max_temperature=dice.choice([None, 1.0]),
        image_transports=dice.choice([[], ["url"], ["messages_url"]]),
        models=some(dice, "ab", 0.6),
        max_length=dice.choice([80, 512]),
        max_context_length=dice.choice([1024, 4096]),
        softprompts=dice.choice([[], ["soft"]]),
        maintenance=dice.random() < 0.1,
        paused=dice.random() < 0.1,
        validated_backend=dice.random() < 0.6,
        last_check_in=datetime.now(UTC) - timedelta(seconds=dice.choice([1, 1, 1, 400])),
    )


def random_columns(dice: random.Random, owner: int, workers: Sequence[UUID]) -> dict[str, Any]:
    """What workers are matched on, of any request."""
    return {
        "is_chat": dice.random() < 0.6,
        "user_id": owner,
        "models": dice.choice([["a"], ["a", "b"], ["c"], ["b"]]),
        "max_length": dice.choice([80, 500, 1000]),
        "max_context_length": dice.choice([1024, 4096]),
        "trusted_workers": dice.random() < 0.3,
        "validated_backends": dice.random() < 0.3,
        "min_speed": dice.choice([0, 3.0]),
        "workers": [str(one) for one in dice.sample(workers, dice.choice([0, 0, 5]))],
        "worker_blacklist": dice.random() < 0.5,
        "has_images": dice.random() < 0.3,
        "chat_required_features": some(dice, FEATURES, 0.3),
        "chat_tools_temperature": dice.choice([None, 0.5, 2.0]),
        "softprompt": dice.choice([None, "", "soft"]),
    }


async def test_the_short_way_to_the_availability_finds_what_the_long_one_finds(sql: Sql) -> None:
    dice = random.Random(13)
    trusted = await sql.fetchval("SELECT admission.create_account_v1('t', 'hash', 30, 0, ARRAY[1]::smallint[])")
    workers = [await random_worker(sql, dice, dice.choice([0, trusted])) for _ in range(40)]
    gaps = found = 0
    for _ in range(300):
        columns = random_columns(dice, dice.choice([0, trusted]), workers)
        asked = (json.dumps(columns), timedelta(seconds=300), 10.0, 120.0)
        long = dict((await sql.fetch("SELECT * FROM dispatch.measure_availability_v1($1, $2, $3, $4)", *asked))[0])
        short = dict((await sql.fetch("SELECT * FROM dispatch.measure_availability_v2($1, $2, $3, $4)", *asked))[0])
        long["worker_ids"], short["worker_ids"] = sorted(long["worker_ids"]), sorted(short["worker_ids"])
        if long["eligible_workers"]:
            long |= {"missing": [], "exceeded": []}
            found += 1
        assert short == long, columns
        gaps += long["gap"]
    assert min(gaps, found) > 0
