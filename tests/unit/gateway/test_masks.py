"""X-Fields: a part of an answer, and never a refusal."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.answers import Answer, json_answer
from services.gateway.masks import masked, parse

USERS = [
    {"username": "a#1", "id": 1, "records": {"usage": {"tokens": 1}, "request": {"text": 2}}, "worker_ids": ["x"]},
    {"username": "b#2", "id": 2, "records": {"usage": {"tokens": 3}, "request": {"text": 4}}},
]


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("username", {"username": "a#1"}),
        ("username,id", {"username": "a#1", "id": 1}),
        (" { username , id } ", {"username": "a#1", "id": 1}),
        ("id,records{usage}", {"id": 1, "records": {"usage": {"tokens": 1}}}),
        ("{records{usage{tokens},request{nothing}}}", {"records": {"usage": {"tokens": 1}, "request": {}}}),
        ("worker_ids{x},nothing", {"worker_ids": ["x"]}),
        ("records{usage},*", {**USERS[0], "records": {"usage": {"tokens": 1}}}),
        ("*", USERS[0]),
    ],
)
def test_a_mask_keeps_what_it_names(header: str, first: dict[str, Any]) -> None:
    assert orjson.loads(masked(json_answer(USERS), header).body)[0] == first


@pytest.mark.parametrize(
    "header", ["", "{", "}", "{}", "a{", "a{b", "a}b", "{a}}", "a b", "{a}{b}", "a" * 5000, "a{" * 50]
)
def test_what_is_no_mask_masks_nothing(header: str) -> None:
    answer = json_answer(USERS)
    assert masked(answer, header) is answer


def test_errors_and_pages_are_told_whole() -> None:
    page = Answer(b"<html>", kind=(b"content-type", b"text/html; charset=utf-8"))
    for answer in (json_answer({"message": "no", "rc": "NotAdmin"}, 403), page):
        assert masked(answer, "rc") is answer
    assert masked(page, None) is page


@given(st.text(alphabet="ab*{}, ", max_size=40))
def test_any_text_is_a_mask_or_none_and_masks_json_into_json(header: str) -> None:
    mask = parse(header)
    assert mask is None or isinstance(mask, dict)
    orjson.loads(masked(json_answer({"a": {"b": [1, {"a": None}]}, "b": []}), header).body)
