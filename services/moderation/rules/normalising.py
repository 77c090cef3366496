"""The form of a prompt that filters read, so that spelling tricks do not hide a word. base-domain 8.1."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby

_BRACKET = re.compile(r"\(|(?::[0-9]+(?:\.[0-9]+)?)?\)")
_WORD = re.compile(r"[^\W_]+")
_NOT_A_WORD = re.compile(r"[\W_]")
_JSON_ESCAPE = re.compile(r"(?<!\\)\\++(?:u([0-9A-Fa-f]{4})|[bfnrt])")

_PLAIN_LETTERS = {
    "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "\u0251": "a",
}  # fmt: skip
"""Latin letters that neither a decomposition nor their name makes plain."""

_NAMED_LETTER = re.compile(
    r"(?:LATIN (?:SMALL LETTER|CAPITAL LETTER|LETTER SMALL CAPITAL)(?: SCRIPT| DOTLESS)?"
    r"|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER|REGIONAL INDICATOR SYMBOL LETTER) ([A-Z])(?: WITH .+)?"
)
"""Letters that nothing decomposes: with strokes and hooks, small capitals, those in black boxes and of flags."""

_UNSEEN = frozenset({"Mn", "Me", "Cf"})
"""Categories of what is drawn onto other characters, and of format characters (zero-width, direction marks)."""

_BLANK_LETTERS = frozenset("\u115f\u1160")
"""Count as letters, and nobody sees them."""

_FOREIGN_TWINS = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u03b1\u03bf\u03c1\u03bd\u03b9"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u039f\u03a1"
    "\u0501\u04bb\u04cf\u04c0\u051b\u051d\u0475\u0585\u057d\u0578\u0570\u0581\u03c5\u03ba\u03c4\u03b7"
)
_LOOK_ALIKES = str.maketrans(_FOREIGN_TWINS, "aeopcyxijskaopviABEKMHOPCTXABEOPdhlIqwvounhguktn")
"""Cyrillic, Greek and Armenian letters that look like Latin ones. Used only in words that hold Latin letters too: a
Russian or Greek word stays as it is, for the filters that are written for it."""

_LATIN = re.compile(r"[A-Za-z]")

_PIECE = 1 << 16
"""Characters that are read at a time: an expression lets nobody else run while it reads."""

_SPACED_OUT = 3
"""Letters in a row that stand alone make a word."""


def readings(prompt: str) -> tuple[str, str]:
    """A prompt without JSON's escapes, and what filters read of it: its normalised form, and that without the escapes.

    Tools and tool calls stand in a prompt as JSON, where a word right behind a line break begins with an n.
    """
    unescaped = _JSON_ESCAPE.sub(_meant, prompt) if "\\" in prompt else prompt
    if unescaped == prompt:
        return prompt, normalised(prompt)
    # halves of surrogate pairs come together again
    meant = unescaped.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return meant, f"{normalised(prompt)}\n{normalised(meant)}"


def normalised(text: str) -> str:
    """Words and single spaces: no weights, punctuation, spaced-out words, accents or look-alikes."""
    words = _words(_without_weights(_without_accents(text)))
    return " ".join(map(_without_look_alikes, _joined(words)))


def has_words(text: str) -> bool:
    """Whether anything is left to read."""
    return any(char.isalnum() for char in text)


def _meant(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else " "


def _without_weights(text: str) -> str:
    """Without the brackets and the number of each `(text:1.2)`, those inside others too."""
    opened: list[int] = []
    weights: list[tuple[int, int]] = []
    for found in _BRACKET.finditer(text) if ":" in text else ():
        if found.group() == "(":
            opened.append(found.start())
        elif opened:
            start = opened.pop()
            if found.group() != ")":
                weights += [(start, start + 1), found.span()]
    kept, rest = [], 0
    for start, end in sorted(weights):
        kept.append(text[rest:start])
        rest = end
    return "".join([*kept, text[rest:]])


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(text[start : start + _PIECE].translate(_PLAIN) for start in range(0, len(text), _PIECE))


class _Plain(dict[int, str]):
    """What `str.translate` makes of each character: a letter without accents, nothing of what nobody sees."""

    _MOST = 1 << 16

    def __missing__(self, code: int) -> str:
        if len(self) >= self._MOST:
            self.clear()
        plain = self[code] = "".join(map(_plain_letter, unicodedata.normalize("NFKD", chr(code))))
        return plain


_PLAIN = _Plain()


def _plain_letter(char: str) -> str:
    if char in _BLANK_LETTERS or unicodedata.category(char) in _UNSEEN:
        return ""
    name = unicodedata.name(char, "")
    named = _NAMED_LETTER.fullmatch(name)
    if named is None:
        return _PLAIN_LETTERS.get(char, char)
    return named[1].lower() if "SMALL LETTER" in name else named[1]


def _words(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _NOT_A_WORD.search(text, start + _PIECE)
        stop = len(text) if end is None else end.start()
        yield from _WORD.findall(text, start, stop)
        start = stop


def _joined(words: Iterable[str]) -> Iterator[str]:
    """The words, those that were spelled letter by letter in one."""
    for is_letter, run in groupby(words, lambda word: len(word) == 1):
        found = list(run)
        yield from ["".join(found)] if is_letter and len(found) >= _SPACED_OUT else found


def _without_look_alikes(word: str) -> str:
    # A pattern that looks for the Latin letter in a word would read a long foreign word once for each of its letters.
    return word if word.isascii() or not _LATIN.search(word) else word.translate(_LOOK_ALIKES)
