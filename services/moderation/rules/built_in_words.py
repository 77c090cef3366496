"""The words that are looked for, and replaced, without any filter having been written. base-domain 8.1 and 8.2."""

import re

_YOUNG = r"(?:(?:school|little|young|small|tiny|teen(?:age)?) ?){0,3}"
"""Bounded: a text of nothing but these words would otherwise be read once for each of them."""

_FEMALE = rf"{_YOUNG}(?:girls?|daughters?|niece|schoolgirls?)"
_MALE = rf"{_YOUNG}(?:boys?|sons?|nephew|schoolboys?)"
_NEUTRAL = (
    r"(?:students?|pupils?|child(?:ren)?|kids?|bab(?:y|ies)|toddlers?|infants?|teen(?:ager)?s?|minors?"
    r"|young(?:er|est)?|little|small|tiny|underage|preteens?|adolescents?|juveniles?)"
)

_REPLACEMENTS = (
    (re.compile(rf"\b{_FEMALE}\b", re.IGNORECASE), "adult woman"),
    (re.compile(rf"\b{_MALE}\b", re.IGNORECASE), "adult man"),
    (re.compile(rf"\b{_NEUTRAL}\b", re.IGNORECASE), "adult"),
)
"""In this order: the longer forms would lose their first word to the last one."""

_EMOJIS = frozenset("👶🧒👦👧🍼🚼🚸🤱🧸")


def has_words_of_youth(text: str) -> bool:
    """Whether a built-in word stands in `text`."""
    return any(pattern.search(text) for pattern, _ in _REPLACEMENTS)


def made_adult(text: str) -> str:
    """`text` with every built-in word replaced."""
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text


def emoji_of_youth(text: str) -> str | None:
    """The first child or baby that `text`, as it was sent, shows; None when it shows none."""
    return None if _EMOJIS.isdisjoint(text) else next(char for char in text if char in _EMOJIS)
