"""What moderation was told of workers, as operators see it."""

from horde.telemetry import logs
from horde.telemetry.metrics import Counter

log = logs.get(__name__)

_REPORTS = Counter(
    "horde_dispatch_worker_reports_total", "Reports of workers to moderation, by how they ended.", ("kind", "outcome")
)


def delivered(kind: str) -> None:
    """Moderation has it."""
    _REPORTS.labels(kind, "delivered").inc()


def refused(kind: str, report: str, reason: str) -> None:
    """Moderation does not take it, and never will."""
    _REPORTS.labels(kind, "refused").inc()
    log.error("report refused", kind=kind, report=report, reason=reason)


def failed(kind: str, report: str, code: str) -> None:
    """Moderation has a fault with it; it is told again later."""
    _REPORTS.labels(kind, "failed").inc()
    log.warning("report not delivered", kind=kind, report=report, code=code)
