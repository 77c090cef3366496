"""A body with far more text than a request may hold, cut short, so that refusing it costs little however long it is.

It is cut as bytes, before anything is made of them. What is left still holds too much, in the same places.
"""

from collections.abc import Iterator

from horde.contract import limits

_STRIDE = 256 * 1024
"""Every so manyth byte is looked at: a string longer than this is met, a shorter one may hide."""

_LONGEST_ESCAPE = len("\\u0041")
_ENOUGH = _LONGEST_ESCAPE * (limits.MAX_CHAT_TEXT_BYTES + 16)
"""Bytes of JSON strings that hold more than MAX_CHAT_TEXT_BYTES of UTF-8, however they are written; some to spare."""

_LEFT_AT_LEAST = 64
"""Bytes left of every string: none becomes empty."""

_MIDST = range(0x80, 0xC0)
"""Bytes of UTF-8 with which no character begins."""

_STEPS = 4
"""Escapes that may have to be stepped back over; more of them make no text."""


def shortened(body: bytes) -> bytes | None:
    """The body without what its strings hold beyond _ENOUGH; None when they hold no more, as far as is seen."""
    if len(body) <= _ENOUGH:
        return None
    pieces: list[bytes] = []
    left, copied = _ENOUGH, 0
    for start, end in _long_strings(body):
        if body[start : start + 5].lower() == b"data:":
            continue  # an image
        length = end - start
        if length > left:
            cut = _before_escape(body, start, start + max(left, _LEFT_AT_LEAST))
            if cut is None:
                return None
            pieces.append(body[copied:cut])
            copied = end
        left = max(left - length, 0)
    return b"".join((*pieces, body[copied:])) if pieces else None


def _long_strings(body: bytes) -> Iterator[tuple[int, int]]:
    """Where stretches without a quote begin and end that are longer than _STRIDE: strings, where the body is JSON."""
    last = 0
    for probe in range(_STRIDE, len(body), _STRIDE):
        if probe < last:
            continue
        start, end = body.rfind(b'"', last, probe), body.find(b'"', probe)
        if end < 0:  # one that never ends
            end = len(body)
        if start >= 0:
            yield start + 1, end
        last = end + 1


def _before_escape(body: bytes, start: int, at: int) -> int | None:
    """The last place up to `at` where a string can end: within no character, escape or pair. None: none near."""
    while at > start and body[at] in _MIDST:
        at -= 1
    for _ in range(_STEPS):
        slash = body.rfind(b"\\", start, at)
        if slash < max(start, at - _LONGEST_ESCAPE):
            return at
        run = start + len(body[start : slash + 1].rstrip(b"\\"))
        if (slash - run) % 2:
            return at  # the second of two: an escaped backslash
        at = slash
        if body[at : at + 4].lower() not in (b"\\udc", b"\\udd", b"\\ude", b"\\udf"):
            return at
    return None
