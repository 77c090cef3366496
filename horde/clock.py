"""Time, as a dependency: what reads the clock is told which clock to read."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the code may ask of time."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since an unknown moment; never goes back. For measuring, not for storing."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
