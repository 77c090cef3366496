"""Every statement of every service, planned under that service's own role: names, types and grants are right."""

import asyncpg
import pytest

from horde.store import queries
from tests.servers import Database

SERVICES = ("admission", "dispatch", "moderation")


@pytest.mark.parametrize("service", SERVICES)
async def test_every_statement_of_a_service_can_be_run_by_its_role(database: Database, service: str) -> None:
    connection = await asyncpg.connect(database.url_for(f"horde_{service}"))
    try:
        for name, query in queries(f"services.{service}").items():
            # a plan is made and its permissions are checked, but nothing runs
            said = await connection.execute(f"EXPLAIN (GENERIC_PLAN) {query.sql}")
            assert said == "EXPLAIN", name
    finally:
        await connection.close()


@pytest.mark.parametrize("service", SERVICES)
async def test_a_role_reaches_no_table_of_another_owner(database: Database, service: str) -> None:
    foreign = {"admission": "dispatch.workers", "dispatch": "admission.users", "moderation": "dispatch.workers"}
    connection = await asyncpg.connect(database.url_for(f"horde_{service}"))
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch(f"SELECT 1 FROM {foreign[service]}")  # noqa: S608 - a test's own names
    finally:
        await connection.close()
