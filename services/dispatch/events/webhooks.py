"""Calls to webhooks, as operators see them. The reference's `horde.webhook.outcomes` is `horde_webhook_outcomes_total`.

A webhook's address may hold a secret of its owner: it is in no line and no label.
"""

from typing import Literal

from horde.telemetry import logs
from horde.telemetry.metrics import SECONDS, Counter, Few, Histogram

log = logs.get(__name__)

type Attempt = Literal["ok", "http_error", "exception"]
type Outcome = Literal["ok", "giveup", "dropped"]

_ATTEMPTS = Histogram(
    "horde_webhook_attempt_duration_seconds",
    "One try of a webhook, by its number and the status of the answer.",
    ("attempt", "outcome", "status_code"),
    buckets=SECONDS,
)
_OUTCOMES = Counter(
    "horde_webhook_outcomes_total", "Webhooks that were to be called, by what came of it.", ("outcome",)
)
_few_statuses = Few(20)
"""Receivers choose what they answer."""


def tried(number: int, outcome: Attempt, seconds: float, *, status: int | None) -> None:
    """One try has ended. `number` from 1; `status`: None without an answer."""
    code = "" if status is None else _few_statuses(str(status))
    _ATTEMPTS.labels(str(number), outcome, code).observe(seconds)


def ended(outcome: Outcome, generation: str, *, why: str = "") -> None:
    """Nothing more is done for this webhook. `why`: for the log, without a word of the receiver's."""
    _OUTCOMES.labels(outcome).inc()
    if outcome != "ok":
        log.info("webhook not called", generation=generation, outcome=outcome, why=why)
