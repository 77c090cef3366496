"""SQL files: the header is the signature, and the signature is checked."""

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
