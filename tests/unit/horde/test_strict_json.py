"""Decision 14: how strictly a body's JSON is read, and that the refusal says where."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from horde.contract.strict_json import loads, loads_object

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e308, max_value=1e308)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON, st.booleans())
def test_whatever_json_can_say_within_the_bounds_is_read_as_it_was_written(value: object, escaped: bool) -> None:
    assert loads(json.dumps(value, ensure_ascii=escaped).encode("utf-8", "strict")) == value


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', '"c" twice in one object, at line 1, column 24'),
        (b'{"a": 1, "\\u0061": 2}', '"a" twice'),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e309}', "1e309"),
        (b'{"a": ' + b"9" * 400 + b"}", "within"),
        (b'{"a": ' + b"9" * 5000 + b"}", "within"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair at line 1, column 8"),
        (b'{"a": "\\udc00\\ud800"}', "surrogate"),
        (b'\xff{"a": 1}', "not UTF-8: invalid byte at position 0"),
        (b'{"a": 1,\n"b" 2}', "line 2, column 5"),
        (b"", "not valid JSON"),
        (b"[" * 65 + b"]" * 65, "deeper than 64 levels at line 1, column 65"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "deeper than 64 levels"),
        (b'{"a" 1}', "line 1, column 6"),
        (b'{"a": 1} {"b": 2}', "line 1, column 10"),
    ],
)
def test_a_body_that_is_not_strict_json_is_refused_and_told_where(body: bytes, part: str) -> None:
    with pytest.raises(Refusal) as refused:
        loads(body)
    assert refused.value.reason is reasons.BAD_REQUEST
    assert part in refused.value.message or (body.startswith(b"[" * 1000) and "deeper than 64" in refused.value.message)


def test_more_values_than_any_request_has_are_refused_before_one_is_made() -> None:
    for unit in (b"{}", b"[]", b"1"):
        with pytest.raises(Refusal, match="more than 1500000 values"):
            loads(b"[" + (unit + b",") * 1_500_000 + unit + b"]")
    assert loads(b'["' + b"," * 1_400_000 + b'"]') == ["," * 1_400_000]
    assert loads(b"[" + b"1," * 3_000_000 + b"1]", limits.MAX_TEXT_JSON_VALUES)


def test_halves_of_pairs_are_found_among_many_whole_ones() -> None:
    whole = b"\\ud83d\\ude00" * 1000
    assert loads(b'["' + whole + b'"]') == ["\U0001f600" * 1000]
    assert loads(b'["\\\\ud800"]') == ["\\ud800"]
    for body in (b'["' + whole + b'\\ud83d"]', b'{"' + whole + b'\\ude00": 1}'):
        with pytest.raises(Refusal, match="half of a surrogate pair at line 1, column 12003"):
            loads(body)


def test_sixty_four_levels_are_allowed() -> None:
    assert loads(b"[" * 64 + b"]" * 64)
    assert loads(b"[" * 64 + b"1" + b"]" * 64)


def test_a_surrogate_pair_and_an_escaped_backslash_are_not_lone_surrogates() -> None:
    assert loads(b'["\\ud83d\\ude00", "\\\\ud800"]') == ["😀", "\\ud800"]


def test_a_body_that_is_not_an_object_is_a_validation_error() -> None:
    with pytest.raises(Refusal) as refused:
        loads_object(b"[]")
    assert refused.value.reason is reasons.VALIDATION_FAILED
