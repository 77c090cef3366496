"""Declared shapes: a table of keys and what each has to be. All that is wrong is told together, by its dotted path.

A text submit's validation errors read like upstream's (base-domain 1.2). Null is the same as absent.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

type Check = Callable[[object], Any]

_MAX_INTEGER = 2**63 - 1
_SHOWN = 80
"""Characters of a client's own value that an error repeats."""


class Wrong(ValueError):
    """A value is not what its key declares. `path` leads from the key to the place, as `.0`."""

    def __init__(self, sentence: str, path: str = "") -> None:
        super().__init__(sentence)
        self.path = path


def read(sent: Mapping[str, object], table: Mapping[str, Check], prefix: str, errors: dict[str, str]) -> dict[str, Any]:
    """The declared values that were sent and are right; the others go to `errors`. Unknown keys are ignored."""
    right: dict[str, Any] = {}
    for key, check in table.items():
        value = sent.get(key)
        if value is None:
            continue
        try:
            right[key] = check(value)
        except Wrong as wrong:
            errors[f"{prefix}{key}{wrong.path}"] = str(wrong)
    return right


def whole(least: int, most: int) -> Check:
    """An integer between two bounds; `2.0` is one."""

    def check(value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise _not_a(value, "integer")
        _within(value, least, most)
        return value

    return check


def number(least: float, most: float) -> Check:
    """A number between two bounds."""

    def check(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _not_a(value, "number")
        _within(value, least, most)
        return value

    return check


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _not_a(value, "boolean")
    return value


def text(shortest: int = 0, longest: int | None = None) -> Check:
    """A string between two lengths, in characters."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise _not_a(value, "string")
        if len(value) < shortest:
            raise Wrong(f"{_shown(value)} is too short: it has to have at least {shortest} characters")
        if longest is not None and len(value) > longest:
            raise Wrong(f"{_shown(value)} is too long: it may have at most {longest} characters")
        return value

    return check


def choice(*values: str) -> Check:
    """One of a few words."""

    def check(value: object) -> str:
        if not isinstance(value, str) or value not in values:
            raise Wrong(f"{_shown(value)} is not one of {', '.join(values)}")
        return value

    return check


def array(entry: Check, most: int) -> Check:
    """A list of one shape."""

    def check(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _not_a(value, "array")
        if len(value) > most:
            raise Wrong(f"{len(value)} entries are too many: at most {most} are taken")
        entries: list[Any] = []
        for place, each in enumerate(value):
            try:
                entries.append(entry(each))
            except Wrong as wrong:
                raise Wrong(str(wrong), f".{place}{wrong.path}") from None
        return tuple(entries)

    return check


def anything_whole(value: object) -> int:
    """An integer of 64 bits."""
    return int(whole(-_MAX_INTEGER, _MAX_INTEGER)(value))


def mapping(value: object) -> Mapping[str, object]:
    """An object."""
    if not isinstance(value, dict):
        raise _not_a(value, "object")
    return value


def texts_by_name(value: object) -> Mapping[str, object]:
    """An object of strings."""
    fields = mapping(value)
    for key, each in fields.items():
        if not isinstance(each, str):
            raise Wrong(str(_not_a(each, "string")), f".{key[:_SHOWN]}")
    return fields


def _within(value: float, least: float, most: float) -> None:
    if value < least:
        raise Wrong(f"{_shown(value)} is less than the minimum of {least}")
    if value > most:
        raise Wrong(f"{_shown(value)} is greater than the maximum of {most}")


def _not_a(value: object, wanted: str) -> Wrong:
    return Wrong(f"{_shown(value)} is not of type '{wanted}'")


def _shown(value: object) -> str:
    """A value as its error repeats it: short, for it may be anything."""
    if isinstance(value, dict | list) and len(value) > _SHOWN:
        return "This value"
    shown = json.dumps(value[: _SHOWN * 2] if isinstance(value, str) else value, ensure_ascii=False)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
