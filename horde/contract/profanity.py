"""Whether a name is one that nobody wants on a public page. base-domain 4.3.

A short list of words that have no other meaning, compared word by word: the word lists of libraries refuse people for
their surnames, and search inside words refuses towns.
"""

import re

_STEMS = (
    "asshole",
    "bullshit",
    "cocksuck",
    "cunt",
    "faggot",
    "fuck",
    "fuk",
    "jizz",
    "kike",
    "motherfuck",
    "nigga",
    "nigger",
    "pedophil",
    "porn",
    "rapist",
    "shit",
    "slut",
    "twat",
    "wank",
    "whore",
)
"""A word that begins with one of these is profane."""

_WORDS = frozenset({"bitch", "bitches", "cum", "dildo", "fag", "fags", "incest", "pedo", "rape", "tits"})
"""A word that is one of these is profane."""

_PARTS = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")
"""Words of a name; a capital begins a new one."""

_LOOKALIKES = str.maketrans("013457@$!", "oieastasi")


def is_profane(text: str) -> bool:
    """Whether a word of it is profane, also with digits for letters."""
    spelled = text.translate(_LOOKALIKES)
    return any(_is_bad(part.lower()) for name in (text, spelled) for part in (*_PARTS.findall(name), *name.split()))


def _is_bad(word: str) -> bool:
    return word in _WORDS or word.startswith(_STEMS)
