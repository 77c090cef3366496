"""SQL files: the header is the signature, and the signature is checked."""

import re
from importlib import resources

import pytest

from horde.store import Query, QueryFileError, queries


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1", "must begin with a comment"),
        ("-- only words", "holds no statement"),
        ("-- x\n-- $1 id uuid\nSELECT 1", "declares .1., the statement uses"),
        ("-- x\nSELECT $1", "declares .., the statement uses"),
        ("-- x\n-- $2 id uuid\nSELECT $2", "counts its parameters"),
    ],
)
def test_a_header_that_does_not_fit_its_statement_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(QueryFileError, match=complaint):
        Query.parse("x", text)


def test_comments_and_quoted_text_are_no_code() -> None:
    query = Query.parse("x", "-- x: one.\n-- $1 id uuid\nSELECT $1, 'UPDATE $2' -- DELETE $3\n/* INSERT */;")
    assert query.parameters == 1
    assert query.reads


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE t SET a = 1",
        "WITH gone AS (DELETE FROM t RETURNING id) SELECT * FROM gone",
        "SELECT id FROM t FOR UPDATE SKIP LOCKED",
        "SELECT id FROM t FOR NO KEY UPDATE",
        "SELECT dispatch.enqueue_v1(1)",
        "SELECT nextval('s')",
    ],
)
def test_what_may_change_something_is_not_a_read(statement: str) -> None:
    assert not Query.parse("x", f"-- x\n{statement}").reads


def test_a_header_may_promise_that_the_functions_of_a_statement_only_read() -> None:
    statement = "SELECT dispatch.chat_offers_v1(1)"
    assert Query.parse("x", f"-- x\n-- reads only\n{statement}").reads
    assert not Query.parse("x", f"-- x, which reads only\n{statement}").reads


def test_a_package_is_loaded_whole() -> None:
    found = queries("horde.store")
    assert {"ping", "schema_version"} <= set(found)
    assert found["ping"].name == "horde.store.ping"
    with pytest.raises(QueryFileError, match=r"there is no sql/nowhere\.sql"):
        found["nowhere"]
    with pytest.raises(QueryFileError, match="there is no folder sql"):
        queries("horde.live")
    with pytest.raises(QueryFileError, match=r"there is no sql/nowhere\.sql"):
        Query.load("horde.store", "nowhere")


@pytest.mark.parametrize("package", ["services.admission", "services.dispatch", "services.moderation"])
def test_every_promise_to_read_only_is_kept_by_the_functions_that_are_called(package: str) -> None:
    functions = resources.files("horde.store") / "functions"
    for name, query in queries(package).items():
        called = re.findall(r"(\w+)\.(\w+_v\d+)\s*\(", query.sql)
        if query.reads and called:
            for owner, function in called:
                assert " STABLE " in (functions / f"{owner}_{function}.sql").read_text(), (name, function)


def test_what_a_submission_is_judged_by_may_be_read_again() -> None:
    admission = queries("services.admission")
    assert all(admission[name].reads for name in ("read_submission", "measure_availability", "competing_load"))
    assert not admission["activate"].reads
