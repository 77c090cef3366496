"""The filters, compiled: engine, time limit, and what happens to a pattern that is broken or slow.

Rows stay apart instead of being joined into one pattern: joined, a back reference or a flag of one would change the
next, and one broken row would take the others with it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import regex

from horde.failures import Outage
from horde.telemetry import logs
from horde.telemetry.metrics import Counter
from services.moderation.rules.screening import DETECTION

log = logs.get(__name__)

_SLOW = Counter("horde_moderation_slow_filters_total", "Patterns that ran out of time; each counted as a match.")
_BROKEN = Counter("horde_moderation_broken_filters_total", "Readings of a filter that cannot be compiled.")


_ALL_TOGETHER = 4
"""Times the limit of one filter: a few slow ones may be waited for, within what admission waits for us."""

_TOO_LONG = object()


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A filter as it is stored."""

    id: int
    kind: int
    pattern: str
    replacement: str


class FiltersTooSlow(Outage):
    """The filters together took too long for one prompt: it cannot be judged now."""

    def __init__(self) -> None:
        super().__init__("filters", "took too long for one prompt")


class BrokenPattern(Exception):
    """A pattern that cannot be compiled; the message says why and where."""


def compiled_pattern(pattern: str) -> regex.Pattern[str]:
    """The pattern as it is matched. Raises BrokenPattern."""
    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise BrokenPattern(str(error) or type(error).__name__) from None


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
                compiled[row.id] = _Compiled(row, compiled_pattern(row.pattern))
            except BrokenPattern as broken:
                _BROKEN.inc()
                log.warning("filter cannot be compiled", filter_id=row.id, why=str(broken), kept=known is not None)
                if known is not None:
                    compiled[row.id] = known
        return FilterSet(compiled, rows)

    def joined(self, kind: int) -> str:
        """The patterns of a type as they are in force, as one; empty when there is none."""
        return "|".join(one.row.pattern for one in self._by_kind.get(kind, ()))

    def timed(self, seconds: float) -> "TimedFilters":
        """These filters for one prompt: each may work `seconds` on one of its texts, all together four times that."""
        return TimedFilters(self._by_kind, seconds)


class TimedFilters:
    """Filters with a clock running. Implements the `Filters` of the rules. Every method raises FiltersTooSlow."""

    def __init__(self, by_kind: Mapping[int, list[_Compiled]], seconds: float) -> None:
        self._by_kind = by_kind
        self._seconds = seconds
        self._ends_at = time.monotonic() + _ALL_TOGETHER * seconds

    def find(self, kind: int, text: str) -> str | None:
        """What the first filter of this type that finds something found; empty when it took too long."""
        for one in self._by_kind.get(kind, ()):
            found = self._within_time(one, partial(one.pattern.search, text))
            if found is _TOO_LONG:
                return ""
            if isinstance(found, regex.Match):
                return str(found.group())
        return None

    def replace(self, text: str) -> str:
        """The text after every replacement of type 10; empty when one took too long."""
        for one in self._by_kind.get(DETECTION, ()):
            replaced = self._within_time(one, partial(one.pattern.sub, _always(one.row.replacement), text))
            if replaced is _TOO_LONG:
                return ""
            text = str(replaced)
        return text

    def _within_time(self, one: _Compiled, work: Callable[..., object]) -> object:
        """What `work` gives, or _TOO_LONG when this pattern used up its own time, which counts as a match.

        When the time of all is over it is nobody's fault, maybe this machine's: then the prompt is not judged.
        """
        left = self._ends_at - time.monotonic()
        try:
            # Never zero or less, which would mean "no limit". `concurrent` lets go of the interpreter, so other calls
            # are answered meanwhile.
            return work(timeout=max(min(self._seconds, left), 0.001), concurrent=True)
        except TimeoutError:
            if left < self._seconds:
                raise FiltersTooSlow from None
            _SLOW.inc()
            log.warning("filter too slow", filter_id=one.row.id)
            return _TOO_LONG


def _always(word: str) -> Callable[[regex.Match[str]], str]:
    """The replacement as it is written: a backslash in it means a backslash."""

    def replacement(_: regex.Match[str]) -> str:
        return word

    return replacement
