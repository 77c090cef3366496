"""A clock that only moves when a test says so."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Stands still at `now` until it is advanced."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
        self._monotonic = 1000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, step: timedelta) -> None:
        """Moves both readings forward by `step`."""
        self._now += step
        self._monotonic += step.total_seconds()
