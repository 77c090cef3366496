"""Whoever wants a word to reach a worker unseen: the ways to write it, and what is read of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.moderation.patterns import FilterRow, FilterSet
from services.moderation.rules.evidence import Path
from services.moderation.rules.normalising import normalised, readings
from services.moderation.rules.screening import Passed, PromptAsk, Rejected, Verdict, findings, rewritten, screen

FILTERS = (FilterRow(1, 10, r"\bbadword\b", "kindword"), FilterRow(3, 20, r"\bworse\b", ""))

TWINS = {
    "a": "a\u0430\uff41\u00e1\u0251\U0001d41a\U0001f170\U0001f1e6\u24d0",
    "o": "o\u043e\u03bf\u00f6\u00f8\uff4f\U0001f17e\u0585",
    "w": "w\u051d\uff57\u02b7\u1d21",
    "r": "r\uff52\u0280\u0159\U0001f181",
    "d": "d\u0501\u0111\uff44\u1d05",
}
"""How letters may be written so that people, and models, still read them."""

JOINTS = ("", "\u200b", "\u00ad", "\u2060", "\u0301", "\u20dd", "\u3164", "\ufe0f", "\U000e0061")
"""What may stand behind a letter without being seen as anything of its own."""


def judged(*texts: str, prompt: str | None = None, **changed: Any) -> Verdict:
    known: dict[str, Any] = {
        "account_id": 1,
        "flagged": False,
        "moderator": False,
        "address": "1.2.3.4",
        "prompt": "\n".join(f"user: {text}" for text in texts) if prompt is None else prompt,
        "texts": texts,
        "models": ("m",),
        "nsfw_model": False,
        "request_id": "r",
    }
    return screen(PromptAsk(**{**known, **changed}), FilterSet.empty().updated(FILTERS).timed(5))


@st.composite
def disguises(draw: st.DrawFn) -> str:
    """`badword`, each letter in some form, perhaps with something unseen behind it, perhaps in brackets of weight."""
    letters = []
    for letter in "badword":
        form = draw(st.sampled_from(TWINS.get(letter, letter))) + draw(st.sampled_from(JOINTS))
        depth = draw(st.integers(0, 3))
        weight = draw(st.sampled_from((":1)", ":1.25)", "\uff1a1.1\uff09")))
        letters.append("(" * depth + form + weight * depth)
    return draw(st.sampled_from(("", " ", "-", "_"))).join(letters)


@given(disguises())
def test_a_disguised_word_is_read_as_the_word(word: str) -> None:
    assert normalised(f"some {word}").lower() == "some badword"


@given(st.text() | st.text("a\u0430i \u0131_-.:()1\u200b\u0301\u0455x\u0391\uac00\u3164"))
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once


@pytest.mark.parametrize("word", ["badword", "b a d w o r d", "b\u0430d\u200bword", "((bad:1.1):1.2)word"])
def test_no_word_is_lost_where_a_long_text_is_read_in_pieces(word: str) -> None:
    for before in range((1 << 16) - len(word) - 1, (1 << 16) + 2):
        assert normalised(f"{'-' * before} {word} !") == "badword"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_every_text_can_be_read_halves_of_surrogate_pairs_too(text: str) -> None:
    raw, plain = readings(text)
    assert plain.startswith(normalised(text))
    assert raw == text or "\\" in text


@pytest.mark.parametrize("foreign", ["плохое слово", "κακή λέξη", "вещь", "漢字 仮名", "한국어"])
def test_words_of_other_scripts_are_not_turned_into_latin_ones(foreign: str) -> None:
    assert not any(char.isascii() and char.isalpha() for char in normalised(foreign))


@pytest.mark.parametrize(
    "json",
    [
        r'[{"function":{"name":"f","description":"Read this:\nbadword\tworse"}}]',
        r'[{"function":{"name":"f","arguments":"{\"text\":\"\\nbadword\\nworse\"}"}}]',
        r'[{"function":{"name":"f","arguments":"{\"text\":\"\\u0062adword w\\u006frse\"}"}}]',
        r'[{"function":{"name":"f","arguments":"{\"text\":\"\\ud83d\\udc76 worse\"}"}}]',
    ],
)
def test_tools_and_tool_calls_are_read_without_the_escapes_of_json(json: str) -> None:
    assert judged("call it", prompt=f"user: call it\n{json}") == Rejected(Path.FILTER)


def test_what_only_looks_like_an_escape_is_read_as_it_stands_too() -> None:
    known = FilterSet.empty().updated([FilterRow(1, 10, r"\bnew\b", ""), FilterRow(2, 20, r"\btable\b", "")]).timed(5)
    raw, plain = readings(r"C:\new\table")
    assert findings(raw, plain, known) == ["new", "table"]


def test_an_emoji_of_a_child_is_taken_out_where_a_prompt_is_rewritten_instead_of_refused() -> None:
    passed = judged("a \N{BABY}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} is worse", "hello", wants_replacement=True)
    assert passed == Passed(("a \N{EMOJI MODIFIER FITZPATRICK TYPE-4} is worse", "hello"), rewritten=True)


def test_an_emoji_of_a_child_does_not_reach_an_nsfw_model() -> None:
    assert judged("a \N{GIRL} here", nsfw_model=True) == Passed(("a  here",), rewritten=True)
    assert judged("\N{GIRL}", nsfw_model=True) == Rejected(Path.MODEL)
    assert judged("a \N{GIRL} here") == Passed(("a \N{GIRL} here",), rewritten=False)


def test_a_word_that_comes_together_when_its_emoji_is_taken_out_is_replaced() -> None:
    assert judged("a bad\N{BABY}word", flagged=True) == Passed(("a kindword",), rewritten=True)


def nested(word: str, times: int) -> str:
    """A word with itself inside, so that taking it out leaves it there."""
    return word if not times else word[:3] + nested(word, times - 1) + word[3:]


@pytest.mark.parametrize("times", [1, 2, 3, 10])
def test_a_word_that_is_nested_in_itself_does_not_survive_its_replacement(times: int) -> None:
    known = FilterSet.empty().updated([FilterRow(1, 10, "badword", "")]).timed(5)
    left = rewritten(f"see {nested('badword', times)} here", known, adult=False)
    assert "badword" not in left
    assert "badword" not in normalised(left)


def test_a_word_that_is_replaced_by_itself_stays() -> None:
    known = FilterSet.empty().updated([FilterRow(1, 10, "word", "word")]).timed(5)
    assert rewritten("a word", known, adult=False) == "a word"
