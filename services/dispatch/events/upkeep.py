"""How the loops keep up, as operators see it."""

from collections.abc import Sequence

from horde.telemetry import logs
from horde.telemetry.metrics import Gauge

log = logs.get(__name__)

_BEHIND = Gauge(
    "horde_dispatch_loop_lag_seconds",
    "Since when the oldest work of a loop has been due; 0: nothing is due.",
    ("loop",),
)


def behind(loop: str, seconds: float) -> None:
    """The oldest work of a loop has been due for so long."""
    _BEHIND.labels(loop).set(seconds)


def stats_dropped(tables: Sequence[str]) -> None:
    """Months of statistics were dropped, retention being over."""
    log.info("statistics dropped", tables=list(tables))
