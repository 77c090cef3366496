"""Kudos that recur, base-domain 2.9: each due month is paid once, whoever asks and however often."""

import asyncio
import calendar
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers import Database

type Sql = asyncpg.Connection[asyncpg.Record]

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
PAY = "SELECT admission.pay_monthly_v1($1, $2)"
LAST = "SELECT monthly_kudos_last_received FROM admission.users WHERE id = $1"
KUDOS = "SELECT kudos FROM admission.users WHERE id = $1"


@pytest.fixture
async def sql(database: Database) -> AsyncIterator[Sql]:
    """The owner's connection; account 1 may be granted kudos, 2 is a moderator."""
    connection = await asyncpg.connect(database.url)
    await connection.execute("SELECT admission.ensure_anonymous_v1('anonymous')")
    await connection.execute("SELECT admission.create_account_v1('one', 'key-1', 30, 100000, '{}')")
    await connection.execute("SELECT admission.create_account_v1('two', 'key-2', 30, 0, '{0, 1}')")
    yield connection
    await connection.close()


def a_month_after(day: datetime) -> datetime:
    """The same day of the next month, or that month's last."""
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))


async def grant(sql: Sql, account: int, amount: int) -> None:
    await sql.execute("UPDATE admission.users SET monthly_kudos = $2 WHERE id = $1", account, amount)


async def test_the_monthly_amount_is_the_accounts_own_and_300000_more_for_a_moderator(sql: Sql) -> None:
    await grant(sql, 1, 40)
    await grant(sql, 2, 50)
    assert await sql.fetchval(PAY, 1, START) == 4_000
    assert await sql.fetchval(PAY, 2, START) == 30_005_000
    assert await sql.fetchval(KUDOS, 2) == 30_005_000
    recurring = "SELECT value FROM admission.user_stats WHERE user_id = 2 AND action = 'recurring'"
    assert await sql.fetchval(recurring) == 30_005_000


async def test_it_is_paid_when_more_than_one_calendar_month_passed_which_then_advances_exactly_one_month(
    sql: Sql,
) -> None:
    await grant(sql, 1, 40)
    assert await sql.fetchval(PAY, 1, START) == 4_000
    due = datetime(2026, 2, 28, 12, tzinfo=UTC)
    assert await sql.fetchval(PAY, 1, due) is None
    late = due + timedelta(days=3)
    assert await sql.fetchval(PAY, 1, late) == 4_000
    assert await sql.fetchval(LAST, 1) == due
    assert await sql.fetchval(PAY, 1, late) is None


async def test_the_month_is_a_month_of_utc_whatever_zone_the_connection_has(sql: Sql) -> None:
    await grant(sql, 1, 40)
    begun = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)
    await sql.execute("SET TIME ZONE 'Pacific/Auckland'")
    await sql.fetchval(PAY, 1, begun)
    await sql.fetchval(PAY, 1, begun + timedelta(days=40))
    assert await sql.fetchval(LAST, 1) == datetime(2026, 2, 28, 23, 30, tzinfo=UTC)


async def test_a_month_without_a_grant_passes_and_is_not_paid_later(sql: Sql) -> None:
    await grant(sql, 1, 40)
    await sql.fetchval(PAY, 1, START)
    await grant(sql, 1, 0)
    later = START + timedelta(days=40)
    assert await sql.fetchval(PAY, 1, later) == 0
    await grant(sql, 1, 40)
    assert await sql.fetchval(PAY, 1, later) is None
    assert await sql.fetchval(KUDOS, 1) == 104_000


@pytest.mark.parametrize("account", [0, 1, 4711])
async def test_who_is_granted_nothing_and_the_anonymous_account_are_never_due(sql: Sql, account: int) -> None:
    await grant(sql, 0, 40)
    assert await sql.fetchval(PAY, account, START) is None
    assert await sql.fetchval("SELECT count(*) FROM admission.kudos_ledger WHERE user_id = 0") == 0


async def test_two_replicas_at_once_pay_a_month_once(database: Database, sql: Sql) -> None:
    other = await asyncpg.connect(database.url)
    try:
        for month in range(8):
            now = START + timedelta(days=32 * month)
            paid = await asyncio.gather(sql.fetchval(PAY, 2, now), other.fetchval(PAY, 2, now))
            assert sorted(paid, key=str) == [30_000_000, None]
    finally:
        await other.close()


EVENT = st.one_of(
    st.tuples(st.just("wait"), st.integers(1, 80)),
    st.tuples(st.just("grant"), st.sampled_from([0, 1, 500])),
    st.tuples(st.just("moderator"), st.booleans()),
    st.tuples(st.just("run"), st.integers(1, 3)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENT, max_size=25))
async def test_whatever_happens_each_month_is_paid_at_the_amount_of_its_payment(
    sql: Sql, events: list[tuple[str, Any]]
) -> None:
    undo = sql.transaction()
    await undo.start()
    try:
        now, last, amount, is_moderator, owed = START, None, 0, False, 100_000
        for what, how in events:
            if what == "wait":
                now += timedelta(days=how)
            elif what == "grant":
                amount = how
                await grant(sql, 1, how)
            elif what == "moderator":
                is_moderator = how
                await sql.execute("DELETE FROM admission.user_roles WHERE user_id = 1 AND user_role = 0")
                if how:
                    await sql.execute("INSERT INTO admission.user_roles VALUES (1, 0)")
            else:
                for _ in range(how):
                    await sql.fetchval(PAY, 1, now)
                    each = (amount + (300_000 if is_moderator else 0)) * 100
                    if last is None and each:
                        last, owed = now, owed + each
                    elif last is not None and a_month_after(last) < now:
                        last, owed = a_month_after(last), owed + each
        assert (await sql.fetchval(KUDOS, 1), await sql.fetchval(LAST, 1)) == (owed, last)
        posted = "SELECT sum(amount) FROM admission.kudos_ledger WHERE user_id = 1 AND account = 'user'"
        assert await sql.fetchval(posted) == owed
        assert await sql.fetchval("SELECT coalesce(sum(amount), 0) FROM admission.kudos_ledger") == 0
    finally:
        await undo.rollback()
