"""JSON as this system reads it, strictly (decision 14).

No duplicate keys, no NaN or Infinity, no lone surrogates, bounded numbers and nesting. The standard parser does the
work; a body that fails is scanned once more, slowly, to say where.
"""

import json
import re
from collections.abc import Iterator

import orjson

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal

_TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|([\[\]{}])', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH_SURROGATES = range(0xD800, 0xDC00)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_RARE = 1000
_SAFE_DIGITS = 300
"""An integer of so few characters is within MAX_JSON_NUMBER."""


class _DuplicateKeyError(ValueError):
    """An object names a key twice."""


class _NumberError(ValueError):
    """A number is out of range or no JSON at all; its text is the argument."""


def loads(body: bytes, most_values: int = limits.MAX_JSON_VALUES) -> object:
    """Parse a body. Raises Refusal(BadRequest) whose message says what is wrong and at which line and column."""
    # counted before anything is made of them: millions of tiny values take a hundred times the memory of their text
    brackets = _count(body, b"[") + _count(body, b"{")
    if len(body) > most_values and brackets + _count(body, b",") > most_values:
        raise Refusal(reasons.BAD_REQUEST, f"The body holds more than {most_values} values.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise Refusal(reasons.BAD_REQUEST, f"The body is not UTF-8: invalid byte at position {wrong.start}.") from None
    try:
        value = _parse(text)
    except json.JSONDecodeError as wrong:
        raise Refusal(
            reasons.BAD_REQUEST, f"The body is not valid JSON: {wrong.msg} at {_place(text, wrong.pos)}."
        ) from None
    except _DuplicateKeyError:
        key, position = next(_duplicates(text))
        where = _place(text, position)
        raise Refusal(reasons.BAD_REQUEST, f"The body names the key {key} twice in one object, at {where}.") from None
    except _NumberError as wrong:
        number = str(wrong)
        where = _place(text, text.find(number))
        message = f"The body holds the number {number[:40]}, which is not a JSON number within ±1e308, at {where}."
        raise Refusal(reasons.BAD_REQUEST, message) from None
    except RecursionError:
        raise _too_deep(text) from None
    if brackets > limits.MAX_JSON_NESTING and _is_too_deep(value):
        raise _too_deep(text)
    # one byte is found much faster than two
    if b"\\" in body and b"\\u" in body and _SURROGATE_ESCAPE.search(text) and _has_half(value):
        half = _lone_surrogate(text) or 0
        raise Refusal(reasons.BAD_REQUEST, f"The body holds half of a surrogate pair at {_place(text, half)}.")
    return value


def loads_object(body: bytes, most_values: int = limits.MAX_JSON_VALUES) -> dict[str, object]:
    """Parse a body that has to be one JSON object. Raises Refusal(BadRequest)."""
    value = loads(body, most_values)
    if not isinstance(value, dict):
        raise Refusal(
            reasons.VALIDATION_FAILED,
            "Input payload validation failed",
            {"errors": {"": "The body has to be a JSON object."}},
        )
    return value


def dumps(value: object) -> bytes:
    """Compact JSON of a parsed value; integers may be longer than 64 bits."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _count(body: bytes, byte: bytes) -> int:
    """How often it occurs. Rare ones, as in a large body of images, are found much faster than they are counted."""
    seen, at = 0, body.find(byte)
    while at >= 0 and seen < _RARE:
        seen, at = seen + 1, body.find(byte, at + 1)
    return seen + (body.count(byte, at) if at >= 0 else 0)


def _parse(text: str) -> object:
    # The hooks cost time for each number, and a search for huge ones would cost more for each character of the text.
    return json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=_refuse_number,
        parse_float=_bounded_float,
        parse_int=_bounded_int,
    )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DuplicateKeyError
    return made


def _refuse_number(text: str) -> object:
    raise _NumberError(text)


def _bounded_float(text: str) -> float:
    number = float(text)
    if -limits.MAX_JSON_NUMBER <= number <= limits.MAX_JSON_NUMBER:
        return number
    raise _NumberError(text)


def _bounded_int(text: str) -> int:
    if len(text) < _SAFE_DIGITS:
        return int(text)
    if len(text) > len("-1") + 308 or abs(int(text)) > int(limits.MAX_JSON_NUMBER):
        raise _NumberError(text)
    return int(text)


def _has_half(value: object) -> bool:
    """Whether a string or key holds half of a surrogate pair: the one thing in it that UTF-8 cannot say."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is str:
            try:
                one.encode()
            except UnicodeEncodeError:
                return True
        elif type(one) is dict:
            waiting.extend(one)
            waiting.extend(one.values())
        elif type(one) is list:
            waiting.extend(one)
    return False


def _is_too_deep(value: object) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limits.MAX_JSON_NESTING):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _too_deep(text: str) -> Refusal:
    depth = 0
    position = 0
    for token in _TOKEN.finditer(text):
        bracket = token[3]
        if bracket is not None:
            depth += 1 if bracket in "[{" else -1
            if depth > limits.MAX_JSON_NESTING:
                position = token.start()
                break
    return Refusal(
        reasons.BAD_REQUEST, f"The body nests deeper than {limits.MAX_JSON_NESTING} levels at {_place(text, position)}."
    )


def _duplicates(text: str) -> Iterator[tuple[str, int]]:
    stack: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[3] is not None:
            if token[3] in "[{":
                stack.append(set())
            else:
                stack.pop()
        elif token[2] is not None:
            key = json.loads(f'"{token[1]}"')
            if key in stack[-1]:
                yield json.dumps(key), token.start()
            stack[-1].add(key)


def _lone_surrogate(text: str) -> int | None:
    high: re.Match[str] | None = None
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        if high is not None:
            if code not in _LOW_SURROGATES or escape.start() != high.end():
                return high.start()
            high = None
        elif code in _LOW_SURROGATES:
            return escape.start()
        elif code in _HIGH_SURROGATES:
            high = escape
    return None if high is None else high.start()


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"
