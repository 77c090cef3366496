"""The form of a prompt that filters read, so that spelling tricks do not hide a word. base-domain 8.1."""

import re
import unicodedata

_WEIGHT = re.compile(r"\(([^()]*):[0-9]+(?:\.[0-9]+)?\)")
_NOT_A_WORD = re.compile(r"[\W_]+")
_SPACED_OUT = re.compile(r"(?<!\S)\S(?:\s\S){2,}(?!\S)")
_SPACES = re.compile(r"\s+")

_PLAIN_LETTERS = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d",
        "Ð": "D", "þ": "th", "Þ": "Th", "ł": "l", "Ł": "L", "\u0131": "i", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T",
    }
)  # fmt: skip
"""Latin letters that no decomposition makes plain."""

_FOREIGN_TWINS = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u03b1\u03bf\u03c1\u03bd\u03b9"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u039f\u03a1"
)
_LOOK_ALIKES = str.maketrans(_FOREIGN_TWINS, "aeopcyxijskaopviABEKMHOPCTXABEOP")
"""Cyrillic and Greek letters that look like Latin ones. Used only in words that hold Latin letters too: a Russian or
Greek word stays as it is, for the filters that are written for it."""

_LOOKS_ALIKE = re.compile(f"[{_FOREIGN_TWINS}]")
_LATIN = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"\w+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def normalised(text: str) -> str:
    """Words and single spaces: no weights, punctuation, spaced-out words, accents or look-alikes."""
    text = _without_accents(_WEIGHT.sub(r"\1", text))
    text = _NOT_A_WORD.sub(" ", text)
    text = _SPACED_OUT.sub(lambda found: _SPACES.sub("", found.group()), text)
    return _SPACES.sub(" ", text).strip()


def has_words(text: str) -> bool:
    """Whether anything is left to read."""
    return any(char.isalnum() for char in text)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    plain = _NOT_ASCII.sub(_plain, text)
    # A pattern that looks for the Latin letter in a word would read a long foreign word once for each of its letters.
    return _WORD.sub(_latin_throughout, plain) if _LOOKS_ALIKE.search(plain) else plain


def _plain(run: re.Match[str]) -> str:
    """Letters without accents, and without format characters (zero-width, direction marks), which nobody sees."""
    decomposed = unicodedata.normalize("NFKD", run.group())
    seen = "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Cf"))
    return seen.translate(_PLAIN_LETTERS)


def _latin_throughout(found: re.Match[str]) -> str:
    word = found.group()
    return word if word.isascii() or not _LATIN.search(word) else word.translate(_LOOK_ALIKES)
