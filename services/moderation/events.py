"""What moderation tells of its business: each event is a metric and a log line. Never a prompt, never an address."""

from datetime import timedelta

from horde.telemetry import logs
from horde.telemetry.metrics import Counter
from services.moderation.rules.evidence import Path

log = logs.get(__name__)

_SCREENED = Counter("horde_moderation_prompts_total", "Prompts that were screened, by verdict.", ("verdict",))
_CAPTURED = Counter("horde_moderation_evidence_captured_total", "Events written.", ("reason", "text_state"))
_LOST = Counter("horde_moderation_evidence_write_failures_total", "Events that could not be written.", ("error_type",))
_ACTIONS = Counter(
    "horde_moderation_countermeasures_total", "Subjects that their model rejections put out, once an hour.", ("action",)
)
_TIMEOUTS = Counter("horde_moderation_address_timeouts_total", "Timeouts that rejections earned.", ("reason",))
_MISSED = Counter("horde_moderation_countermeasure_failures_total", "Timeouts and counts that failed.", ("error_type",))
_DECISIONS = Counter("horde_moderation_decisions_total", "What moderators and administrators decided.", ("what",))
_ALERTS = Counter("horde_moderation_problem_job_alerts_total", "Alerts about problem jobs, by level.", ("level",))
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

    def captured(self, reason: str, event_id: int, *, text_state: str = "pending") -> None:
        """The evidence was written."""
        _CAPTURED.labels(str(reason), text_state).inc()
        log.info("evidence captured", reason=str(reason), event_id=event_id)

    def capture_failed(self, error: BaseException) -> None:
        """The evidence is lost. The type alone is told: the message of a database error may quote the prompt."""
        _LOST.labels(type(error).__name__).inc()
        log.error("evidence lost", error_type=type(error).__name__)

    def timed_out(self, path: Path, length: timedelta) -> None:
        """An address stays out for a while."""
        _TIMEOUTS.labels(path.value).inc()
        log.info("address timed out", reason=path.value, seconds=int(length.total_seconds()))

    def first_model_timeout(self) -> None:
        """A subject is put out for its model rejections, the first time in an hour."""
        _ACTIONS.labels("timeout").inc()

    def countermeasure_failed(self, error: BaseException) -> None:
        """An address should have been counted or put out, and Redis did not take it."""
        _MISSED.labels(type(error).__name__).inc()
        log.warning("countermeasure failed", error_type=type(error).__name__)

    def decided(self, what: str, operator_id: int, **facts: object) -> None:
        """A moderator or an administrator decided something. Facts hold no address."""
        _DECISIONS.labels(what).inc()
        log.info(what, operator_id=operator_id, **facts)

    def unblockable(self, worker_id: str) -> None:
        """A worker's address should be kept out, and what is recorded of it is no address."""
        log.warning("worker not blocked", worker_id=worker_id, why="its recorded origin is no address")

    def alerted(self, level: str) -> None:
        """Moderators were told of an account or an address whose jobs are reported often."""
        _ALERTS.labels(level).inc()

    def alert_failed(self, error: BaseException) -> None:
        """Moderators should have been told. The type alone: the message could quote what was reported."""
        _ALERTS.labels("failed").inc()
        log.warning("alert failed", error_type=type(error).__name__)

    def checked_blind(self) -> None:
        """An address passed because nobody could look."""
        _BLIND.inc()
        log.warning("address not checked", why="redis cannot be reached")
