"""Typed values out of a parsed body. All that is wrong is reported together, each under its dotted path (1.2)."""

from collections.abc import Mapping
from typing import cast

from horde.contract import strict_json
from horde.contract.limits import MAX_WAIT_SECONDS
from services.gateway.validation import invalid

MAX_INT64 = 2**63 - 1
MAX_INT32 = 2**31 - 1


class Fields:
    """One object of a body. Null is the same as absent; unknown keys are nobody's business."""

    def __init__(self, values: Mapping[str, object], path: str = "", errors: dict[str, str] | None = None) -> None:
        self._values = values
        self._path = path
        self.errors: dict[str, str] = {} if errors is None else errors

    def check(self) -> None:
        """Raises Refusal(ValidationFailed) when anything read so far was wrong."""
        if self.errors:
            raise invalid(self.errors)

    def has(self, key: str) -> bool:
        """Whether the key is there, and not null."""
        return self._values.get(key) is not None

    def raw(self, key: str) -> object:
        """The value as it came; None when absent."""
        return self._values.get(key)

    def json(self, key: str) -> bytes:
        """The value's JSON; empty when absent."""
        value = self._values.get(key)
        return b"" if value is None else strict_json.dumps(value)

    def require(self, *keys: str) -> None:
        """Reports each key that is missing."""
        for key in keys:
            if not self.has(key):
                self._wrong(key, f"'{key}' is a required property. Missing required parameter in the JSON body")

    def text(self, key: str, *, longest: int | None = None) -> str | None:
        """A string of at most `longest` characters; None when absent or wrong."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong_type(key, value, "string")
            return None
        if longest is not None and len(value) > longest:
            self._wrong(key, f"may have at most {longest} characters, not {len(value)}")
            return None
        return value

    def whole(self, key: str, *, least: int = -MAX_INT64, most: int = MAX_INT64) -> int | None:
        """An integer between two bounds; `2.0` is one. None when absent or wrong."""
        value = self._values.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            self._wrong_type(key, value, "integer")
            return None
        if value < least:
            self._wrong(key, f"{_shown(value)} is less than the minimum of {least}")
            return None
        if value > most:
            self._wrong(key, f"{_shown(value)} is greater than the maximum of {most}")
            return None
        return value

    def number(self, key: str, *, least: float | None = None, most: float | None = None) -> float | None:
        """A number between two bounds; None when absent or wrong."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            self._wrong_type(key, value, "number")
            return None
        if least is not None and value < least:
            self._wrong(key, f"{_shown(value)} is less than the minimum of {least}")
            return None
        if most is not None and value > most:
            self._wrong(key, f"{_shown(value)} is greater than the maximum of {most}")
            return None
        return float(value)

    def flag(self, key: str) -> bool | None:
        """A boolean; None when absent or wrong."""
        value = self._values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._wrong_type(key, value, "boolean")
        return None

    def texts(self, key: str, *, shortest: int = 0, longest: int | None = None) -> list[str]:
        """An array of strings, each between two lengths in characters; empty when absent or wrong."""
        value = self._values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong_type(key, value, "array")
            return []
        for place, item in enumerate(value):
            if not isinstance(item, str):
                self._wrong_type(f"{key}.{place}", item, "string")
            elif len(item) < shortest:
                self._wrong(f"{key}.{place}", f"'{item}' is too short: at least {shortest} characters")
            elif longest is not None and len(item) > longest:
                self._wrong(f"{key}.{place}", f"may have at most {longest} characters, not {len(item)}")
        return cast("list[str]", value)

    def nested(self, key: str) -> "Fields | None":
        """An object; None when absent or wrong. Its errors are reported here."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._wrong_type(key, value, "object")
            return None
        return Fields(value, f"{self._path}{key}.", self.errors)

    def wrong(self, key: str, what: str) -> None:
        """Reports a rule of one route."""
        self._wrong(key, what)

    def _wrong(self, key: str, what: str) -> None:
        # The first complaint about a path is the most basic one.
        self.errors.setdefault(f"{self._path}{key}", what)

    def _wrong_type(self, key: str, value: object, wanted: str) -> None:
        self._wrong(key, f"{_shown(value)} is not of type '{wanted}'")


def wait_seconds(query: Mapping[str, str]) -> float:
    """How long a status may wait for a change; 0 when not said. Raises Refusal(ValidationFailed). Decision 34."""
    try:
        seconds = float(query.get("wait_seconds", 0))
    except ValueError:
        seconds = -1.0
    # also refuses NaN, which is in no range
    if not 0 <= seconds <= MAX_WAIT_SECONDS:
        raise invalid({"wait_seconds": f"has to be a number from 0 to {MAX_WAIT_SECONDS}"})
    return seconds


def _shown(value: object) -> str:
    """A value as its error repeats it: short, for it may be anything."""
    shown = strict_json.dumps(value).decode()
    return shown if len(shown) <= 80 else f"{shown[:77]}..."  # noqa: PLR2004 - a line of text
