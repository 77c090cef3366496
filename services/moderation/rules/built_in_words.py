"""The words that are looked for, and replaced, without any filter having been written. base-domain 8.1 and 8.2."""

import re

import regex

_YOUNG = r"(?:(?:school|little|young|small|tiny|teen(?:age)?) ?){0,3}"
"""Bounded: a text of nothing but these words would otherwise be read once for each of them."""

_FEMALE = rf"{_YOUNG}(?:girls?|daughters?|niece|schoolgirls?)"
_MALE = rf"{_YOUNG}(?:boys?|sons?|nephew|schoolboys?)"
_NEUTRAL = (
    r"(?:students?|pupils?|child(?:ren)?|kids?|bab(?:y|ies)|toddlers?|infants?|teen(?:ager)?s?|minors?"
    r"|young(?:er|est)?|little|small|tiny|underage|preteens?|adolescents?|juveniles?)"
)

_REPLACEMENTS = (
    (regex.compile(rf"\b{_FEMALE}\b", regex.IGNORECASE), "adult woman"),
    (regex.compile(rf"\b{_MALE}\b", regex.IGNORECASE), "adult man"),
    (regex.compile(rf"\b{_NEUTRAL}\b", regex.IGNORECASE), "adult"),
)
"""In this order: the longer forms would lose their first word to the last one. `concurrent` lets others run meanwhile:
a prompt may have 16 MiB."""

_EMOJIS = re.compile("[👶🧒👦👧🍼🚼🚸🤱🧸]")


def has_words_of_youth(text: str) -> bool:
    """Whether a built-in word stands in `text`."""
    return any(pattern.search(text, concurrent=True) for pattern, _ in _REPLACEMENTS)


def made_adult(text: str) -> str:
    """`text` with every built-in word replaced."""
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text, concurrent=True)
    return text


def emoji_of_youth(text: str) -> str | None:
    """The first child or baby that `text`, as it was sent, shows; None when it shows none."""
    found = None if text.isascii() else _EMOJIS.search(text)
    return None if found is None else found.group()


def without_emojis(text: str) -> str:
    """`text` without the children and babies that it shows."""
    return text if text.isascii() else _EMOJIS.sub("", text)
