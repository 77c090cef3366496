"""The filters, compiled: engine, time limit, and what happens to a pattern that is broken or slow.

Rows stay apart instead of being joined into one pattern: joined, a back reference or a flag of one would change the
next, and one broken row would take the others with it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import regex

from horde.telemetry import logs
from horde.telemetry.metrics import Counter
from services.moderation.rules.screening import DETECTION

log = logs.get(__name__)

_SLOW = Counter("horde_moderation_slow_filters_total", "Patterns that ran out of time; each counted as a match.")
_BROKEN = Counter("horde_moderation_broken_filters_total", "Readings of a filter that cannot be compiled.")


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A filter as it is stored."""

    id: int
    kind: int
    pattern: str
    replacement: str


@dataclass(frozen=True, slots=True)
class _Compiled:
    row: FilterRow
    pattern: regex.Pattern[str]


class FilterSet:
    """All filters at one moment. Never changes; `updated` gives the next one."""

    def __init__(self, compiled: Mapping[int, _Compiled], rows: tuple[FilterRow, ...]) -> None:
        self._compiled = compiled
        self._rows = rows
        self._by_kind: dict[int, list[_Compiled]] = {}
        for one in compiled.values():
            self._by_kind.setdefault(one.row.kind, []).append(one)

    @classmethod
    def empty(cls) -> "FilterSet":
        """No filters."""
        return cls({}, ())

    def updated(self, rows: Iterable[FilterRow]) -> "FilterSet":
        """The set of `rows`. A row that cannot be compiled keeps its last good form, if it ever had one."""
        rows = tuple(rows)
        if rows == self._rows:
            return self
        compiled: dict[int, _Compiled] = {}
        for row in rows:
            known = self._compiled.get(row.id)
            if known is not None and known.row == row:
                compiled[row.id] = known
                continue
            try:
                compiled[row.id] = _Compiled(row, regex.compile(row.pattern, regex.IGNORECASE))
            except (regex.error, RecursionError, OverflowError) as error:
                _BROKEN.inc()
                log.warning("filter cannot be compiled", filter_id=row.id, why=str(error), kept=known is not None)
                if known is not None:
                    compiled[row.id] = known
        return FilterSet(compiled, rows)

    def timed(self, seconds: float) -> "TimedFilters":
        """These filters for one text or prompt, which may work for `seconds` in all."""
        return TimedFilters(self._by_kind, seconds)


class TimedFilters:
    """Filters with a clock running. Implements the `Filters` of the rules."""

    def __init__(self, by_kind: Mapping[int, list[_Compiled]], seconds: float) -> None:
        self._by_kind = by_kind
        self._ends_at = time.monotonic() + seconds

    def matches(self, kind: int, text: str) -> bool:
        """Whether a filter of this type finds something, or took too long."""
        for one in self._by_kind.get(kind, ()):
            try:
                # `concurrent` lets go of the interpreter, so other calls are answered meanwhile.
                if one.pattern.search(text, timeout=self._left(), concurrent=True) is not None:
                    return True
            except TimeoutError:
                self._too_slow(one)
                return True
        return False

    def replace(self, text: str) -> str:
        """The text after every replacement of type 10; empty when one took too long."""
        for one in self._by_kind.get(DETECTION, ()):
            try:
                text = one.pattern.sub(_always(one.row.replacement), text, timeout=self._left(), concurrent=True)
            except TimeoutError:
                self._too_slow(one)
                return ""
        return text

    def _left(self) -> float:
        # Never zero or less, which would mean "no limit".
        return max(self._ends_at - time.monotonic(), 0.001)

    @staticmethod
    def _too_slow(one: _Compiled) -> None:
        _SLOW.inc()
        log.warning("filter too slow", filter_id=one.row.id)


def _always(word: str) -> Callable[[regex.Match[str]], str]:
    """The replacement as it is written: a backslash in it means a backslash."""

    def replacement(_: regex.Match[str]) -> str:
        return word

    return replacement
