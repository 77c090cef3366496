"""A body with far too much text is refused as ever, but not read through: whatever its text is made of."""

import json
from collections.abc import Callable

import pytest

from horde.contract import limits
from horde.contract.chat import parse_chat_request
from horde.contract.chat.overlong import shortened
from horde.contract.refusal import Refusal

ENOUGH = 6 * limits.MAX_CHAT_TEXT_BYTES
FAR_TOO_MUCH = 4 * ENOUGH
TOO_MUCH_TEXT = f"messages: the messages of a chat request hold at most {limits.MAX_CHAT_TEXT_BYTES} bytes of text."


def saying(*texts: bytes, rest: bytes = b"") -> bytes:
    messages = b",".join(b'{"role":"user","content":"' + text + b'"}' for text in texts)
    return b'{"model":"m","messages":[' + messages + b"]" + rest + b"}"


def refused(body: bytes) -> str:
    with pytest.raises(Refusal) as refusal:
        parse_chat_request(body)
    return refusal.value.message


def filled(unit: bytes, shift: int = 0) -> bytes:
    return b"x" * shift + unit * (FAR_TOO_MUCH // len(unit))


UNITS = {
    "plain": b"a",
    "two bytes a character": "ä".encode(),
    "four bytes a character": "😀".encode(),
    "newlines": b"\\n",
    "backslashes": b"\\\\",
    "quotes": b"\\\\\\u0022",
    "escaped letters": b"\\u0041",
    "escaped pairs": b"\\ud83d\\ude00",
    "upper-case pairs": b"\\uD83D\\uDE00",
    "pairs among letters": b"ab\\ud83d\\ude00c",
}


@pytest.mark.parametrize("shift", range(13))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_far_too_much_text_is_cut_where_nothing_is_torn_and_is_still_too_much(unit: bytes, shift: int) -> None:
    body = saying(filled(unit, shift))

    cut = shortened(body)

    assert cut is not None
    assert len(cut) < ENOUGH + 4096
    content = json.loads(cut)["messages"][0]["content"]
    whole = json.loads(body)["messages"][0]["content"]
    assert whole.startswith(content)
    assert len(content.encode()) > limits.MAX_CHAT_TEXT_BYTES


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(saying(filled(b"a")), id="one text"),
        pytest.param(saying(*[b"a" * 1024 * 1024] * 30), id="many texts"),
        pytest.param(saying(b"short", filled(b"\\ud83d\\ude00"), b"short"), id="among short ones"),
    ],
)
def test_it_is_refused_for_its_text(body: bytes) -> None:
    assert shortened(body) is not None
    assert refused(body) == TOO_MUCH_TEXT


def test_an_earlier_check_still_comes_first() -> None:
    assert refused(saying(filled(b"a"), rest=b',"frobnicate":1')).startswith("frobnicate")


def test_what_is_no_json_is_told_by_its_place_in_the_whole_body() -> None:
    body = saying(filled(b"a"), rest=b",")

    assert f"line 1, column {len(body) - 1}" in refused(body)


def test_a_text_without_its_end_is_told_by_where_it_begins() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"' + filled(b"a")

    assert shortened(body) is not None
    assert "Unterminated string" in refused(body)
    assert f"line 1, column {body.index(b'"aaa') + 1}." in refused(body)


def test_what_is_wrong_after_a_long_blank_is_told_by_its_place() -> None:
    body = saying(b"Hi") + b" " * FAR_TOO_MUCH + b"]"

    assert f"line 1, column {len(body)}." in refused(body)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: filled(b"\\udc00"), id="halves of pairs"),
        pytest.param(lambda: filled(b"a") + b"\\ud83d", id="a half at the end"),
        pytest.param(lambda: filled(b"a") + b"\xff", id="not UTF-8"),
    ],
)
def test_text_that_is_none_is_refused_as_that_or_as_too_much(made: Callable[[], bytes]) -> None:
    message = refused(saying(made()))

    assert "surrogate" in message or "UTF-8" in message or message == TOO_MUCH_TEXT


def test_what_may_be_said_is_never_cut() -> None:
    assert shortened(saying(b"\\u0041" * (limits.MAX_CHAT_TEXT_BYTES - 1))) is None
    assert shortened(saying(b"a", rest=b',"metadata":{}')) is None


def test_long_text_in_a_key_that_is_taken_and_not_kept_refuses_nothing() -> None:
    body = saying(b"Hi", rest=b',"user":"' + b"a" * FAR_TOO_MUCH + b'"')

    assert shortened(body) is not None
    assert parse_chat_request(body).messages[0]["content"] == "Hi"


def test_images_are_not_text() -> None:
    image = b'{"type":"image_url","image_url":{"url":"data:image/png;base64,' + b"A" * FAR_TOO_MUCH + b'"}}'
    body = b'{"model":"m","messages":[{"role":"user","content":[' + image + b"]}]}"

    assert shortened(body) is None
