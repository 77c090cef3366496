"""`X-Fields`: the part of an answer that a client wants, base-domain 1.4. What is no mask masks nothing."""

import re

import orjson

from services.gateway.answers import JSON, Answer

HEADER = b"x-fields"

_WORD = re.compile(r"[{},]|[^{},\s]+")
_DEEPEST = 16
_LONGEST = 4096
"""Characters; no answer has nearly as many fields."""

type Mask = dict[str, Mask | None]
"""Wanted fields; None: all of a field. `*` wants every other field too."""


def masked(answer: Answer, header: str | None) -> Answer:
    """What `header` wants of an answer that is JSON and no error; lists are masked entry by entry."""
    mask = None if header is None or not _can_be_masked(answer) else parse(header)
    if not mask:
        return answer
    return answer.with_body(orjson.dumps(_part(orjson.loads(answer.body), mask)))


def parse(text: str) -> Mask | None:
    """The mask that `name,details{first,second},*` says, braces around it or not; None when it says none."""
    if len(text) > _LONGEST:
        return None
    words = _WORD.findall(text)
    if words[:1] == ["{"] and words[-1:] == ["}"]:
        words = words[1:-1]
    whole: Mask = {}
    inside, last = [whole], ""
    for word in words:
        if word == "{":
            if not last or len(inside) == _DEEPEST:
                return None
            inner: Mask = {}
            inside[-1][last] = inner
            inside.append(inner)
            last = ""
        elif word == "}":
            if len(inside) == 1:
                return None
            inside.pop()
            last = ""
        elif word == ",":
            last = ""
        elif last:
            return None
        else:
            last = word
            inside[-1][last] = None
    return whole if len(inside) == 1 else None


def _can_be_masked(answer: Answer) -> bool:
    return 200 <= answer.status < 300 and answer.kind == JSON  # noqa: PLR2004 - what HTTP calls success


def _part(value: object, mask: Mask) -> object:
    if isinstance(value, list):
        return [_part(entry, mask) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        name: inner if (wanted := mask.get(name)) is None else _part(inner, wanted)
        for name, inner in value.items()
        if name in mask or "*" in mask
    }
