"""Kudos through the SQL functions: whatever is settled in whatever order, the books are right."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers import Database

type Sql = asyncpg.Connection[asyncpg.Record]

SETTLE = "SELECT admission.settle_v2($1, $2, $3, $4, NULL, $5, $6, $7, $8, 100)"
ACTIVATE = "SELECT * FROM admission.activate_v3($1, 'user: hi', 'user: hi', '[]', $2, $3)"
FLOORS = {0: -5000, 1: 2500, 2: 2500, 3: 1400}


@pytest.fixture
async def sql(database: Database) -> AsyncIterator[Sql]:
    """The owner's connection to a database with four accounts: anonymous, 1 trusted, 2 untrusted, 3 pseudonymous."""
    connection = await asyncpg.connect(database.url)
    await connection.execute("SELECT admission.ensure_anonymous_v1('anonymous')")
    await connection.execute("SELECT admission.create_account_v1('one', 'key-1', 30, 100000, '{1}')")
    await connection.execute("SELECT admission.create_account_v1('two', 'key-2', 30, 20000, '{}')")
    await connection.execute(
        "INSERT INTO admission.users (username, oauth_id, api_key) VALUES ('three', gen_random_uuid()::text, 'key-3')"
    )
    yield connection
    await connection.close()


def row(user: int, request: UUID, **columns: Any) -> str:
    """A request as admission hands it over."""
    now = datetime.now(UTC)
    return json.dumps(
        {
            "id": str(request),
            "is_chat": True,
            "user_id": user,
            "models": ["m"],
            "jobs": 1,
            "created": now.isoformat(),
            "expiry": (now + timedelta(minutes=20)).isoformat(),
            "params": {},
            "gen_payload": {},
            "max_length": 100,
            "max_context_length": 2048,
            **columns,
        }
    )


async def balances(sql: Sql) -> dict[int, tuple[int, int]]:
    """Balance and escrow of every account."""
    rows = await sql.fetch("SELECT id, kudos, evaluating_kudos FROM admission.users")
    return {found["id"]: (found["kudos"], found["evaluating_kudos"]) for found in rows}


async def prove(sql: Sql) -> None:
    """What must hold of the books at any time."""
    assert await sql.fetch("SELECT set_id FROM admission.kudos_ledger GROUP BY set_id HAVING sum(amount) <> 0") == []
    wrong = await sql.fetch(
        """SELECT u.id FROM admission.users u
           WHERE u.kudos <> (SELECT coalesce(sum(amount), 0) FROM admission.kudos_ledger l
                             WHERE l.user_id = u.id AND l.account = 'user')
              OR u.evaluating_kudos <> (SELECT coalesce(sum(amount), 0) FROM admission.kudos_ledger l
                                        WHERE l.user_id = u.id AND l.account = 'escrow')"""
    )
    assert wrong == []
    assert await sql.fetch("SELECT 1 FROM admission.kudos_reservations WHERE remaining_amount > original_amount") == []


ACCOUNT = st.sampled_from([0, 1, 2, 3])
AMOUNT = st.integers(0, 60_000)
OPERATION = st.one_of(
    st.tuples(st.just("settle"), ACCOUNT, st.sampled_from([1, 2, 3]), AMOUNT, st.sampled_from([0, 100]), st.booleans()),
    st.tuples(st.just("uptime"), st.sampled_from([1, 2, 3]), AMOUNT),
    st.tuples(st.just("activate"), ACCOUNT, st.integers(0, 30_000), st.sampled_from([100, 600])),
    st.tuples(st.just("release"), st.integers(0, 9)),
    st.tuples(st.just("adjust"), ACCOUNT, st.integers(-90_000, 90_000)),
    st.tuples(st.just("promote"), ACCOUNT),
)


async def perform(sql: Sql, operation: tuple[Any, ...], requests: list[UUID]) -> None:
    """One operation; a debit never leaves an account under its floor."""
    match operation:
        case ("settle", requester, owner, reward, burn, twice):
            subject = uuid4()
            request = requests[-1] if requests else uuid4()
            args = (subject, "generation", request, requester, owner, reward, reward, burn)
            assert await sql.fetchval(SETTLE, *args)
            before = await balances(sql)
            assert before[requester][0] >= FLOORS[requester]
            if twice:
                assert not await sql.fetchval(SETTLE, *args)
                assert await balances(sql) == before
        case ("uptime", owner, reward):
            assert await sql.fetchval(SETTLE, uuid4(), "uptime", None, None, owner, reward, 0, 0)
        case ("activate", user, hold, tax):
            request = uuid4()
            try:
                async with sql.transaction():
                    await sql.fetch(ACTIVATE, row(user, request), hold, tax)
                requests.append(request)
                assert (await balances(sql))[user][0] >= FLOORS[user]
            except asyncpg.PostgresError as refused:
                if refused.sqlstate not in {"HD402", "HD429"}:
                    raise
        case ("release", which):
            if requests:
                await sql.execute("SELECT admission.release_hold_v1($1)", requests[which % len(requests)])
        case ("adjust", user, amount):
            assert await sql.fetchval("SELECT admission.adjust_v1($1, $2)", user, amount) >= FLOORS[user]
        case ("promote", user):
            await sql.execute("SELECT admission.promote_v1($1)", user)
            assert (await balances(sql))[user][1] == 0


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=st.lists(OPERATION, max_size=15))
async def test_the_books_balance_after_anything(sql: Sql, operations: list[tuple[Any, ...]]) -> None:
    undo = sql.transaction()
    await undo.start()
    try:
        requests: list[UUID] = []
        for operation in operations:
            await perform(sql, operation, requests)
        await prove(sql)
    finally:
        await undo.rollback()


@pytest.mark.parametrize(("reward", "escrow"), [(0, 0), (1, 1), (101, 51), (500, 250)])
async def test_half_of_an_untrusted_owners_reward_goes_to_escrow_rounded_up(sql: Sql, reward: int, escrow: int) -> None:
    await sql.fetchval(SETTLE, uuid4(), "generation", uuid4(), 1, 2, reward, reward, 100)
    assert (await balances(sql))[2] == (20_000 + reward - escrow, escrow)
    assert (await balances(sql))[1] == (100_000 - reward - 100, 0)


async def test_a_trusted_owner_gets_everything_at_once(sql: Sql) -> None:
    await sql.fetchval(SETTLE, uuid4(), "generation", uuid4(), 2, 1, 501, 501, 100)
    assert (await balances(sql))[1] == (100_501, 0)


async def test_the_uptime_of_an_untrusted_owner_is_all_escrow(sql: Sql) -> None:
    await sql.fetchval(SETTLE, uuid4(), "uptime", None, None, 2, 500, 0, 0)
    assert (await balances(sql))[2] == (20_000, 500)


async def test_a_debit_stops_at_the_floor_and_the_rest_is_forgiven(sql: Sql) -> None:
    await sql.fetchval(SETTLE, uuid4(), "generation", uuid4(), 2, 1, 50_000, 50_000, 100)
    assert (await balances(sql))[2][0] == 2500
    forgiven = await sql.fetchval("SELECT sum(amount) FROM admission.kudos_ledger WHERE account = 'forgiven'")
    assert forgiven == -(50_100 - 17_500)
    await prove(sql)


async def test_the_anonymous_account_sinks_to_minus_fifty(sql: Sql) -> None:
    for _ in range(3):
        await sql.fetchval(SETTLE, uuid4(), "generation", uuid4(), 0, 1, 3000, 3000, 100)
    assert (await balances(sql))[0][0] == -5000


async def test_serving_oneself_costs_the_burn_alone(sql: Sql) -> None:
    await sql.fetchval(SETTLE, uuid4(), "generation", uuid4(), 1, 1, 700, 700, 100)
    assert (await balances(sql))[1][0] == 99_900


async def test_a_hold_is_consumed_by_debits_and_released_when_nothing_is_left(sql: Sql) -> None:
    request = uuid4()
    await sql.fetch(ACTIVATE, row(1, request), 1000, 100)
    hold = "SELECT remaining_amount, released_at IS NULL AS active FROM admission.kudos_reservations"
    assert tuple(await sql.fetchrow(hold) or ()) == (1000, True)
    await sql.fetchval(SETTLE, uuid4(), "generation", request, 1, 2, 300, 300, 100)
    assert tuple(await sql.fetchrow(hold) or ()) == (600, True)
    await sql.fetchval(SETTLE, uuid4(), "generation", request, 1, 2, 900, 900, 100)
    assert tuple(await sql.fetchrow(hold) or ()) == (0, False)


async def test_a_hold_counts_against_the_next_one_until_it_is_released(sql: Sql) -> None:
    first = uuid4()
    await sql.fetch(ACTIVATE, row(2, first), 17_000, 100)
    with pytest.raises(asyncpg.PostgresError) as caught:
        await sql.fetch(ACTIVATE, row(2, uuid4()), 500, 100)
    assert caught.value.sqlstate == "HD402"
    await sql.execute("SELECT admission.release_hold_v1($1)", first)
    await sql.fetch(ACTIVATE, row(2, uuid4()), 500, 100)


async def test_the_concurrency_limit_is_exact(sql: Sql) -> None:
    await sql.execute("UPDATE admission.users SET concurrency = 1 WHERE id = 1")
    await sql.fetch(ACTIVATE, row(1, uuid4()), 0, 100)
    with pytest.raises(asyncpg.PostgresError) as caught:
        await sql.fetch(ACTIVATE, row(1, uuid4()), 0, 100)
    assert caught.value.sqlstate == "HD429"
    assert await sql.fetchval("SELECT count(*) FROM dispatch.waiting_prompts") == 1


async def test_an_unlimited_shared_key_stays_unlimited_and_a_small_one_ends_at_zero(sql: Sql) -> None:
    for budget, left in ((-100, -100), (50, 0), (5000, 4900)):
        key = await sql.fetchval(
            "INSERT INTO admission.user_sharedkeys (user_id, kudos) VALUES (1, $1) RETURNING id", budget
        )
        await sql.fetch(ACTIVATE, row(1, uuid4(), sharedkey_id=str(key)), 0, 100)
        found = await sql.fetchrow("SELECT kudos, utilized FROM admission.user_sharedkeys WHERE id = $1", key)
        assert tuple(found or ()) == (left, 100)


async def test_a_flagged_account_waits_behind(sql: Sql) -> None:
    await sql.execute("INSERT INTO admission.user_roles VALUES (1, 3), (3, 3)")
    for user, priority in ((2, 200), (1, 1), (3, -100)):
        request = uuid4()
        await sql.fetch(ACTIVATE, row(user, request), 0, 100)
        found = await sql.fetchval("SELECT extra_priority FROM dispatch.waiting_prompts WHERE id = $1", request)
        assert found == priority


async def test_promotion_moves_the_escrow_and_unpauses_the_workers(sql: Sql) -> None:
    await sql.execute("INSERT INTO dispatch.workers (user_id, name, paused) VALUES (2, 'w', true)")
    await sql.fetchval(SETTLE, uuid4(), "uptime", None, None, 2, 500, 0, 0)
    for _ in range(2):
        await sql.execute("SELECT admission.promote_v1(2)")
    assert (await balances(sql))[2] == (20_500, 0)
    assert not await sql.fetchval("SELECT paused FROM dispatch.workers")
    await prove(sql)


async def test_postings_that_do_not_balance_are_refused(sql: Sql) -> None:
    with pytest.raises(asyncpg.PostgresError) as caught:
        await sql.execute(
            "SELECT admission.post_v1(ARRAY['X'], ARRAY['user'], ARRAY[1], ARRAY[5]::bigint[], NULL, NULL)"
        )
    assert caught.value.sqlstate == "HD100"


async def test_admission_may_not_write_the_ledger_by_hand(database: Database, sql: Sql) -> None:
    del sql
    admission = await asyncpg.connect(database.url_for("horde_admission"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await admission.execute("DELETE FROM admission.kudos_ledger")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await admission.execute("SELECT admission.post_v1('{}', '{}', '{}', '{}', NULL, NULL)")
    await admission.close()
