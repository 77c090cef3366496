"""A revision that would break the release before it, or hold its tables, is found before it is merged."""

import pytest

from tools import revisions
from tools.revisions import AFTER, BEFORE, Revision, problems

LAST, NEXT = "0005", "0006"


def found(sql: str, *, name: str = NEXT, doc: str = BEFORE, oldest_code: str | None = None, indexes: str = "") -> str:
    return "\n".join(problems(Revision(name, f"It. {doc}", oldest_code, sql, indexes), last=LAST))


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE a.t DROP COLUMN c;",
        "ALTER TABLE a.t ALTER COLUMN c TYPE bigint;",
        "ALTER TABLE a.t RENAME COLUMN c TO d;",
        "ALTER TABLE a.t RENAME TO u;",
        "ALTER TABLE a.t ADD COLUMN d integer NOT NULL;",
        "ALTER TABLE a.t ALTER COLUMN c SET NOT NULL;",
        "ALTER TABLE a.t ALTER COLUMN c DROP NOT NULL;",
        "DROP TABLE a.t;",
        "DROP VIEW a.v;",
        "DROP FUNCTION a.f_v1(integer);",
        "ALTER FUNCTION a.f() RENAME TO g;",
        "DROP SCHEMA a CASCADE;",
    ],
)
def test_before_the_code_nothing_goes_that_the_code_before_could_use(statement: str) -> None:
    assert found(statement) != ""
    assert found(statement, name=LAST) != ""
    assert found(statement, doc=AFTER, oldest_code="0006") == ""


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE a.t ADD COLUMN d integer;",
        "ALTER TABLE a.t ADD COLUMN d integer NOT NULL DEFAULT 0;",
        "ALTER TABLE a.t ADD CONSTRAINT x CHECK (c > 0) NOT VALID;",
        "CREATE TABLE a.n (id bigint PRIMARY KEY); CREATE INDEX i ON a.n (id);",
        "CREATE FUNCTION a.f_v2() RETURNS int LANGUAGE sql AS 'SELECT 1';",
        "GRANT SELECT ON a.t TO r;",
    ],
)
def test_what_only_adds_may_run_before_the_code(statement: str) -> None:
    assert found(statement) == ""


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX i ON a.t (c);",
        "DROP INDEX a.i;",
        "ALTER TABLE a.t ADD CONSTRAINT x CHECK (c > 0);",
        "ALTER TABLE a.t ADD CONSTRAINT q UNIQUE (c);",
        "ALTER TABLE a.t ADD COLUMN d uuid DEFAULT gen_random_uuid();",
    ],
)
def test_after_a_release_no_revision_holds_a_table_for_as_long_as_it_takes_to_read(statement: str) -> None:
    assert found(statement) != ""
    assert found(statement, name=LAST) == ""


def test_indexes_of_tables_in_use_are_built_beside_the_transaction() -> None:
    concurrent = "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a.t (c);"
    assert found("", indexes=concurrent) == ""
    assert found("", indexes="CREATE INDEX i ON a.t (c);") != ""


def test_a_revision_says_when_it_runs_and_a_contracting_one_whom_it_ends() -> None:
    assert "docstring must end" in found("", doc="")
    assert "oldest_code" in found("", doc=AFTER)
    assert "oldest_code" in found("", oldest_code="0006")


def test_every_revision_of_this_tree_holds() -> None:
    last = revisions.last_schema()
    known = list(revisions.revisions())
    assert last in {revision.name for revision in known}
    assert [problem for revision in known for problem in problems(revision, last=last)] == []
