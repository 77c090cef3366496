"""How a revision runs: SQL files as they stand, in the revision's own transaction; indexes of old tables beside it."""

import re
from importlib import resources
from typing import Any

from alembic import op
from sqlalchemy import text
from sqlalchemy.util import await_only

_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (?P<index>\w+) ON (?P<schema>\w+)\.")


def run_files(*paths: str) -> None:
    """Runs the files, in order; any number of statements each, all or nothing. Paths start at `horde/store`."""
    # Opens the transaction; what follows speaks to the driver, which takes many statements at once.
    op.execute("SELECT 1")
    driver: Any = op.get_bind().connection.driver_connection
    if driver is None:
        raise RuntimeError("the migration has no connection")
    for path in paths:
        try:
            await_only(driver.execute(_read(path)))
        except Exception as error:
            error.add_note(f"in horde/store/{path}")
            raise


def build_indexes(*paths: str) -> None:
    """Builds indexes while their tables are written to: each file is `CREATE INDEX CONCURRENTLY IF NOT EXISTS …` alone.

    Ends the revision's transaction first, so it comes last in a revision, and whatever a cut-short run left behind is
    built anew by the next.
    """
    with op.get_context().autocommit_block():
        # It waits for transactions that are older than the index, and nobody waits behind it meanwhile.
        op.execute("SET lock_timeout = 0")
        for path in paths:
            for statement in _read(path).split(";\n"):
                if statement.strip():
                    _build(statement)
        op.execute("RESET lock_timeout")


def validate(table: str, constraint: str) -> None:
    """Checks a constraint that was added as NOT VALID, while its table is written to. Commits what the revision did."""
    with op.get_context().autocommit_block():
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {constraint}")


def _build(statement: str) -> None:
    named = _INDEX.search(statement)
    if named is None:
        raise RuntimeError(f"not CREATE INDEX CONCURRENTLY IF NOT EXISTS name ON schema.table: {statement[:80]}")
    # A build that was cut short leaves its index behind, marked as invalid; IF NOT EXISTS would take it for a good one.
    is_half_built = text("SELECT NOT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:index)").bindparams(
        index=f"{named['schema']}.{named['index']}"
    )
    if op.get_bind().execute(is_half_built).scalar():
        op.execute(f"DROP INDEX CONCURRENTLY {named['schema']}.{named['index']}")
    op.execute(statement)


def _read(path: str) -> str:
    return resources.files("horde.store").joinpath(*path.split("/")).read_text(encoding="utf-8")
