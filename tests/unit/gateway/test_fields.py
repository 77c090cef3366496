"""Typed values out of a body: what passes, what is reported, and under which path."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract import strict_json
from horde.contract.refusal import Refusal
from services.gateway.wire.fields import MAX_INT64, Fields


def errors_of(values: dict[str, Any], read: Callable[[Fields], object]) -> dict[str, str]:
    fields = Fields(values)
    read(fields)
    return fields.errors


def test_null_is_the_same_as_absent() -> None:
    fields = Fields({"a": None})
    assert fields.text("a") is None
    assert fields.whole("a") is None
    assert fields.flag("a") is None
    assert fields.texts("a") == []
    assert fields.nested("a") is None
    assert fields.json("a") == b""
    fields.check()


def test_a_whole_number_may_be_written_as_a_float_but_not_as_a_boolean() -> None:
    assert Fields({"a": 2.0}).whole("a") == 2
    assert errors_of({"a": 2.5}, lambda fields: fields.whole("a")) == {"a": "2.5 is not of type 'integer'"}
    assert errors_of({"a": True}, lambda fields: fields.whole("a")) == {"a": "true is not of type 'integer'"}


def test_bounds_are_inclusive() -> None:
    for value in (1, 50):
        assert Fields({"a": value}).whole("a", least=1, most=50) == value
    assert "less than the minimum of 1" in errors_of({"a": 0}, lambda fields: fields.whole("a", least=1))["a"]
    assert "greater than the maximum of 50" in errors_of({"a": 51}, lambda fields: fields.whole("a", most=50))["a"]
    assert errors_of({"a": MAX_INT64 + 1}, lambda fields: fields.whole("a"))


def test_paths_of_nested_values_are_dotted() -> None:
    def read(fields: Fields) -> None:
        inner = fields.nested("outer")
        assert inner is not None
        inner.whole("n")
        fields.texts("list", shortest=3)

    assert set(errors_of({"outer": {"n": "x"}, "list": ["abc", 5, "ab"]}, read)) == {"outer.n", "list.1", "list.2"}


def test_everything_wrong_is_raised_together() -> None:
    fields = Fields({"a": 1})
    fields.require("b")
    fields.text("a")
    with pytest.raises(Refusal) as refused:
        fields.check()
    assert refused.value.reason.word == "BadRequest"
    assert set(dict(refused.value.facts)["errors"]) == {"a", "b"}  # type: ignore[call-overload]  # facts are plain objects


def test_what_is_repeated_of_a_wrong_value_is_short() -> None:
    assert len(errors_of({"a": "x" * 10_000}, lambda fields: fields.whole("a"))["a"]) < 150


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_any_json_value_survives_being_passed_on(value: Any) -> None:
    assert json.loads(strict_json.dumps(value)) == value


@given(st.dictionaries(st.sampled_from("abc"), JSON))
def test_no_body_makes_a_reader_fail(values: dict[str, Any]) -> None:
    fields = Fields(values)
    for read in (fields.text, fields.whole, fields.number, fields.flag, fields.texts, fields.nested, fields.json):
        read("a")
    assert set(fields.errors) <= {"a"} | {f"a.{place}" for place in range(5)}
