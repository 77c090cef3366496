"""What is refused, what is rewritten, and what is left alone."""

import dataclasses
import time
from typing import Any

import pytest

from services.moderation.patterns import FilterRow, FilterSet, FiltersTooSlow
from services.moderation.rules.built_in_words import made_adult
from services.moderation.rules.evidence import Path
from services.moderation.rules.normalising import normalised
from services.moderation.rules.screening import Passed, PromptAsk, Rejected, Verdict, findings, screen

BAD = (
    FilterRow(1, 10, r"\bbadword\b", "kindword"),
    FilterRow(2, 11, r"sneaky", ""),
    FilterRow(3, 20, r"worse(thing)?", ""),
)


def filters(*rows: FilterRow, seconds: float = 5.0) -> Any:
    return FilterSet.empty().updated(rows).timed(seconds)


def asked(*texts: str, **changed: Any) -> PromptAsk:
    prompt = "\n".join(f"user: {text}" for text in texts)
    known: dict[str, Any] = {
        "account_id": 1,
        "flagged": False,
        "moderator": False,
        "address": "1.2.3.4",
        "prompt": prompt,
        "texts": texts,
        "models": ("m",),
        "nsfw_model": False,
        "request_id": "r",
    }
    return PromptAsk(**{**known, **changed})


def verdict(*texts: str, **changed: Any) -> Verdict:
    return screen(asked(*texts, **changed), filters(*BAD))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a (big:1.2) house", "a big house"),
        ("b_a_d: b-a-d!", "badbad"),
        ("b a d w o r d", "badword"),
        ("Crème brûlée, œuf, Straße", "Creme brulee oeuf Strasse"),
        ("bad\u200bword", "badword"),
        ("\uff42\uff41\uff44\uff57\uff4f\uff52\uff44", "badword"),
        ("b\u0430dw\u043erd", "badword"),
        ("\u0441\u043b\u043e\u0432\u043e", "\u0441\u043b\u043e\u0432\u043e"),
        ("  many \n\t spaces ", "many spaces"),
        ("I am ok", "I am ok"),
        ("", ""),
    ],
)
def test_spelling_tricks_are_undone(text: str, plain: str) -> None:
    assert normalised(text) == plain


def test_groups_count_once_and_two_of_them_refuse() -> None:
    known = filters(*BAD)
    assert findings("", normalised("nothing here"), known) == []
    assert findings("", normalised("sneaky and badword"), known) == ["badword"]
    assert findings("", normalised("b.a.d.w.o.r.d, BADWORD and worsething"), known) == ["badword", "worsething"]
    assert verdict("badword sneaky") == Passed(("badword sneaky",), rewritten=False)
    assert verdict("a badword", "and a worsething") == Rejected(Path.FILTER)


def test_the_part_behind_hashes_is_judged_too() -> None:
    assert verdict("### Instruction: a badword, a worsething") == Rejected(Path.FILTER)


def test_an_emoji_of_a_child_counts_as_the_first_group() -> None:
    assert verdict("\N{BABY} worsething") == Rejected(Path.FILTER)


def test_a_model_that_is_not_nsfw_leaves_the_texts_of_an_unflagged_account_alone() -> None:
    assert verdict("a little girl, badword") == Passed(("a little girl, badword",), rewritten=False)


def test_an_nsfw_model_gets_each_text_rewritten_for_itself() -> None:
    passed = verdict("A Badword!", "hello", "my little girls (5)", nsfw_model=True)
    assert passed == Passed(("A kindword!", "hello", "my adult woman (5)"), rewritten=True)


def test_an_nsfw_model_and_a_clean_prompt_change_nothing() -> None:
    assert verdict("two of us", nsfw_model=True) == Passed(("two of us",), rewritten=False)


def test_a_flagged_account_is_rewritten_for_any_model_and_clean_texts_stay_as_they_are() -> None:
    code = "def f(x):\n\treturn {'a': x}  # ok"
    assert verdict(code, "b-a-d-w-o-r-d", flagged=True) == Passed((code, "kindword"), rewritten=True)


def test_a_replacement_in_place_of_a_refusal_changes_what_filters_find_and_no_words_of_youth() -> None:
    text = "my little students, badword, worse"
    assert verdict(text, wants_replacement=True) == Passed(("my little students, kindword, worse",), rewritten=True)
    both = verdict(text, wants_replacement=True, nsfw_model=True)
    assert both == Passed(("my adult adult, kindword, worse",), rewritten=True)


def test_a_text_that_is_emptied_becomes_empty_and_all_of_them_are_a_rejection() -> None:
    only = FilterRow(1, 10, "badword", "")
    known = filters(only)
    assert screen(asked("badword!", "hello", flagged=True), known) == Passed(("", "hello"), rewritten=True)
    assert screen(asked("badword!", " badword ", flagged=True), known) == Rejected(Path.MODEL)
    assert screen(asked("badword", "", flagged=True), known) == Rejected(Path.MODEL)


def test_filters_are_to_blame_for_what_they_empty_alone_and_the_model_for_what_goes_beyond() -> None:
    known = filters(FilterRow(1, 10, "adult woman|badword", ""), FilterRow(2, 20, "girl|worsething", ""))
    asking = asked("\N{GIRL} girl", wants_replacement=True)
    assert isinstance(screen(asking, known), Passed)
    assert screen(dataclasses.replace(asking, nsfw_model=True), known) == Rejected(Path.MODEL)
    both = filters(FilterRow(1, 10, "badword", ""), FilterRow(2, 20, "badword", ""))
    assert screen(asked("badword", wants_replacement=True, nsfw_model=True), both) == Rejected(Path.FILTER)


def test_texts_that_were_empty_before_are_no_rejection() -> None:
    assert screen(asked("", "", flagged=True), filters()) == Passed(("", ""), rewritten=False)
    assert screen(asked(flagged=True), filters()) == Passed((), rewritten=False)
    assert screen(asked("...", flagged=True), filters()) == Passed(("...",), rewritten=False)


@pytest.mark.parametrize(
    ("text", "adult"),
    [
        ("schoolgirl", "adult woman"),
        ("a young boy and his son", "a adult man and his adult man"),
        ("Students", "adult"),
        ("tiny", "adult"),
        ("girlfriend, sonnet, smaller", "girlfriend, sonnet, smaller"),
    ],
)
def test_words_of_youth_become_adult(text: str, adult: str) -> None:
    assert made_adult(text) == adult


def test_a_broken_filter_never_replaces_its_last_good_form_nor_the_others() -> None:
    first = FilterSet.empty().updated([FilterRow(1, 10, "good", ""), FilterRow(2, 10, "other", "")])
    second = first.updated([FilterRow(1, 10, "(broken", ""), FilterRow(2, 10, "new", ""), FilterRow(3, 10, "[", "")])
    timed = second.timed(1)
    assert timed.find(10, "good") == "good"
    assert timed.find(10, "new") == "new"
    assert timed.find(10, "other") is None
    assert second.updated([]).timed(1).find(10, "good") is None


def test_the_same_rows_compile_nothing_anew() -> None:
    rows = [FilterRow(1, 10, "x", "")]
    known = FilterSet.empty().updated(rows)
    assert known.updated(list(rows)) is known


def test_a_replacement_is_text_and_not_a_pattern() -> None:
    assert filters(FilterRow(1, 10, "x", r"\1 \g<0>")).replace("axb") == r"a\1 \g<0>b"


def test_a_filter_that_takes_too_long_counts_as_a_match_in_time() -> None:
    slow = FilterRow(1, 10, r"(a|a)+b\1", "")
    began = time.monotonic()
    assert filters(slow, seconds=0.2).find(10, "a" * 40) == ""
    assert filters(slow, seconds=0.2).replace("a" * 40) == ""
    assert time.monotonic() - began < 20


def test_a_slow_filter_takes_no_time_from_the_others() -> None:
    slow = FilterRow(1, 10, r"(a|a)+b\1", "")
    assert findings("", "a" * 40, filters(slow, FilterRow(9, 20, "a{20}", ""), seconds=0.5)) == ["", "a" * 20]
    assert findings("", "a" * 40, filters(slow, FilterRow(9, 20, "b", ""), seconds=0.5)) == [""]


def test_when_all_filters_together_take_too_long_the_prompt_is_not_judged() -> None:
    known = filters(FilterRow(1, 10, r"(a|a)+b\1", ""), seconds=0.02)

    def read_on() -> None:
        for _ in range(100):
            known.find(10, "a" * 40)

    with pytest.raises(FiltersTooSlow):
        read_on()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "a " * 200_000,
        "young " * 150_000,
        "(a:" + "1" * 300_000,
        "\u0301" * 200_000,
        "\u0436" * 500_000,
        "\u0430a" * 250_000,
        "\u0430 a" * 200_000,
    ],
)
def test_long_hostile_prompts_are_judged_quickly(text: str) -> None:
    began = time.process_time()
    screen(asked(text, flagged=True), filters(*BAD))
    assert time.process_time() - began < 10
