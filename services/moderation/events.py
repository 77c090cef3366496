"""What moderation tells of its business: each event is a metric and a log line. Never a prompt, never an address."""

from datetime import timedelta

from horde.telemetry import logs
from horde.telemetry.metrics import Counter
from services.moderation.rules.evidence import Path

log = logs.get(__name__)

_SCREENED = Counter("horde_moderation_prompts_total", "Prompts that were screened, by verdict.", ("verdict",))
_CAPTURED = Counter("horde_moderation_evidence_captured_total", "Events written.", ("reason", "text_state"))
_LOST = Counter("horde_moderation_evidence_write_failures_total", "Events that could not be written.", ("error_type",))
_ACTIONS = Counter("horde_moderation_countermeasures_total", "What was done against addresses.", ("action",))
_BLIND = Counter("horde_moderation_address_checks_blind_total", "Address checks that passed because Redis was away.")


class Events:
    """The business events of moderation."""

    def passed(self, *, rewritten: bool) -> None:
        """A prompt may go on."""
        _SCREENED.labels("rewritten" if rewritten else "clear").inc()

    def rejected(self, path: Path, account_id: int, request_id: str) -> None:
        """A prompt was refused."""
        _SCREENED.labels(path.value).inc()
        log.info("prompt refused", reason=path.value, account_id=account_id, refused_request_id=request_id)

    def captured(self, path: Path, event_id: int) -> None:
        """The evidence was written."""
        _CAPTURED.labels(path.value, "pending").inc()
        log.info("evidence captured", reason=path.value, event_id=event_id)

    def capture_failed(self, error: BaseException) -> None:
        """The evidence is lost. The type alone is told: the message of a database error may quote the prompt."""
        _LOST.labels(type(error).__name__).inc()
        log.error("evidence lost", error_type=type(error).__name__)

    def timed_out(self, path: Path, length: timedelta) -> None:
        """An address stays out for a while."""
        _ACTIONS.labels("timeout").inc()
        log.info("address timed out", reason=path.value, seconds=int(length.total_seconds()))

    def countermeasure_failed(self, error: BaseException) -> None:
        """An address should stay out, and Redis did not take it."""
        _ACTIONS.labels("failed").inc()
        log.warning("countermeasure failed", error_type=type(error).__name__)

    def checked_blind(self) -> None:
        """An address passed because nobody could look."""
        _BLIND.inc()
        log.warning("address not checked", why="redis cannot be reached")
