"""How the loops keep up, as operators see it."""

from horde.telemetry.metrics import Gauge

_BEHIND = Gauge(
    "horde_dispatch_loop_lag_seconds",
    "Since when the oldest work of a loop has been due; 0: nothing is due.",
    ("loop",),
)


def behind(loop: str, seconds: float) -> None:
    """The oldest work of a loop has been due for so long."""
    _BEHIND.labels(loop).set(seconds)
