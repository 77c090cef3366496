"""What happened to completions, as metrics. Contract: clients-and-front 3.11. Ids and keys are never labels."""

from typing import Literal

from horde.telemetry.metrics import LONG_SECONDS, Counter, Histogram

_COMPLETIONS = Counter(
    "horde_oai_completions_total",
    "Completions that were delivered; lowered: with fewer tokens than asked for.",
    ("finish_reason", "lowered"),
)
_ERRORS = Counter(
    "horde_oai_errors_total", "Errors that were told, before or inside a stream.", ("code", "status", "stage")
)
_FIRST_DELTA = Histogram(
    "horde_oai_first_delta_seconds", "Time from acceptance to the first text of a stream.", buckets=LONG_SECONDS
)
_RESTARTS = Counter(
    "horde_oai_restarts_total",
    "Streams whose generation was replaced: with nothing sent yet, continued, or broken off.",
    ("outcome",),
)
_CANCELLED = Counter("horde_oai_cancelled_total", "Requests that the front cancelled.", ("cause",))
_ATTACHED = Counter(
    "horde_oai_attached_retries_total", "Repeated calls that were given the request of their first try."
)

type Cause = Literal["disconnect", "budget", "no_worker", "fail_fast", "gap", "stalled"]


class FrontEvents:
    """One method for each thing that happens."""

    def delivered(self, finish_reason: str, *, lowered: bool) -> None:
        """A reply reached its client, as far as can be known."""
        _COMPLETIONS.labels(finish_reason, str(lowered).lower()).inc()

    def told(self, code: str, status: int, stage: Literal["pre", "stream"]) -> None:
        """A client was told an error."""
        _ERRORS.labels(code, str(status), stage).inc()

    def first_delta(self, seconds: float) -> None:
        """The first text of a stream went out."""
        _FIRST_DELTA.observe(seconds)

    def restarted(self, outcome: Literal["silent", "prefix", "error"], times: int = 1) -> None:
        """A stream's generation was replaced by another."""
        _RESTARTS.labels(outcome).inc(times)

    def cancelled(self, cause: Cause) -> None:
        """The front cancelled a request."""
        _CANCELLED.labels(cause).inc()

    def attached(self) -> None:
        """A repeated call follows the request of its first try."""
        _ATTACHED.inc()
