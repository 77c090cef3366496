"""What moderation tells of evidence and retention: metrics and log lines. Never a prompt, never an address."""

from collections.abc import Mapping
from datetime import timedelta

from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge
from services.moderation.rules.fates import Step

log = logs.get(__name__)

_UPLOADS = Counter("horde_moderation_evidence_uploads_total", "Texts that were moved to the evidence store.")
_UPLOAD_FAILURES = Counter("horde_moderation_evidence_upload_failures_total", "Texts that could not be moved there.")
_ORPHANS = Counter("horde_moderation_evidence_orphans_total", "Objects without a text in their row.", ("kind",))
_PENDING = Gauge("horde_moderation_evidence_pending_rows", "Events whose text waits to be moved to the evidence store.")
_OLDEST = Gauge("horde_moderation_evidence_oldest_pending_seconds", "Age of the oldest of them.")
_REJECTIONS = Gauge(
    "horde_moderation_rejections_per_minute", "Events of the last five minutes, per minute.", ("reason",)
)
_SUBJECTS = Gauge("horde_moderation_rejecting_subjects", "Subjects that the events of those five minutes are of.")
_TABLE_ROWS = Gauge("horde_moderation_table_rows", "Rows of a table, as the planner estimates them.", ("table",))
_OBSERVED = Gauge(
    "horde_moderation_observation_timestamp", "When this process last looked: the newest one is the one that leads."
)
_ROWS = Counter("horde_moderation_retention_rows_total", "Rows that retention changed.", ("step",))
_CYCLES = Counter("horde_moderation_retention_cycles_total", "Passes of retention.")
_SATURATION = Counter("horde_moderation_retention_saturation_total", "Ticks whose last pass still had a full batch.")
_WAITING = Gauge("horde_moderation_retention_waiting_stored", "Events whose text is due but could not be deleted.")
_HELD = Gauge("horde_moderation_retention_held", "Events that only a hold keeps past a window.", ("hold_source",))
_OVERDUE = Gauge(
    "horde_moderation_retention_overdue_seconds",
    "How far the oldest row that nothing holds is past its window; 0: on time.",
    ("step",),
)
_UNMAPPED = Gauge("horde_moderation_retention_unmapped_columns", "Columns of the table of events without a fate.")
_VIOLATIONS = Gauge(
    "horde_moderation_retention_violations", "Values that outlived their windows, by the last proof.", ("kind",)
)


class EvidenceEvents:
    """The business events of evidence and retention."""

    def uploaded(self, texts: int) -> None:
        """Texts lie in the evidence store now."""
        _UPLOADS.inc(texts)

    def upload_failed(self, error: BaseException) -> None:
        """The evidence store did not take a text; it stays in its row. The type alone is told."""
        _UPLOAD_FAILURES.inc()
        log.warning("evidence not uploaded", why=str(error))

    def observed(self, *, pending: int, oldest: timedelta, subjects: int, now: float) -> None:
        """How things stand, seen by the replica that leads."""
        _PENDING.set(pending)
        _OLDEST.set(oldest.total_seconds())
        _SUBJECTS.set(subjects)
        _OBSERVED.set(now)

    def rejections(self, per_minute: Mapping[str, float]) -> None:
        """How many events there are, by reason."""
        for reason, rate in per_minute.items():
            _REJECTIONS.labels(reason).set(rate)

    def table_rows(self, estimates: Mapping[str, int]) -> None:
        """How large the tables are."""
        for table, rows in estimates.items():
            _TABLE_ROWS.labels(table).set(rows)

    def retained(self, step: Step, rows: int) -> None:
        """A step changed rows."""
        if rows:
            _ROWS.labels(step.value).inc(rows)
            log.info("retention", step=step.value, rows=rows)

    def passed_once(self) -> None:
        """A pass is over."""
        _CYCLES.inc()

    def saturated(self) -> None:
        """A tick ended with work left."""
        _SATURATION.inc()
        log.warning("retention falls behind", why="every pass of the tick had a full batch")

    def store_away(self, error: BaseException) -> None:
        """Objects could not be deleted."""
        log.warning("evidence not deleted", why=str(error))

    def not_deleted(self, objects: int) -> None:
        """The store kept objects of texts that retention cleared; the sweep finds them."""
        log.warning("evidence not deleted", objects=objects)

    def waiting(self, events: int, *, tell: bool) -> None:
        """Texts that are due wait for the store."""
        _WAITING.set(events)
        if events and tell:
            log.warning("stored texts wait for the evidence store", events=events)

    def held(self, by_source: Mapping[str, int]) -> None:
        """What only holds keep."""
        for source, events in by_source.items():
            _HELD.labels(source).set(events)

    def overdue(self, late: Mapping[Step, timedelta]) -> None:
        """Whether the promise is kept."""
        for step, by in late.items():
            _OVERDUE.labels(step.value).set(by.total_seconds())

    def unmapped(self, columns: int) -> None:
        """Columns came to be while this process runs."""
        _UNMAPPED.set(columns)

    def proved(self, violations: Mapping[str, int]) -> None:
        """The proof has looked at every value."""
        for kind, found in violations.items():
            _VIOLATIONS.labels(kind).set(found)
            if found:
                log.error("retention broke its promise", kind=kind, values=found)

    def orphans(self, *, deleted: int, unknown: int) -> None:
        """The sweep found objects whose row has no text, and objects without a row."""
        _ORPHANS.labels("textless").inc(deleted)
        _ORPHANS.labels("rowless").inc(unknown)
        if deleted or unknown:
            log.warning("orphans in the evidence store", deleted=deleted, without_a_row=unknown)
