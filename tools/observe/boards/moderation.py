"""Tells whether abuse is held off, evidence is kept, and nothing outlives its window."""

from tools.observe.boards import shared
from tools.observe.forms import COUNT, SECONDS, Board, Figure, Graph, Line, Row
from tools.observe.promql import now, per_second

_GAUGE = "horde_moderation_"

_PROMISE = Row(
    "The promise",
    (
        Figure(
            title="Past its window",
            lines=[Line(now(f"{_GAUGE}retention_overdue_seconds", "step", how="max"), "{{step}}")],
            told="How far the oldest value that nothing holds is past its window.",
            unit=SECONDS,
            bad_from=86400,
            runbook="RetentionOverdue",
            width=12,
        ),
        Figure(
            title="Violations, by the nightly proof",
            lines=[Line(now(f"{_GAUGE}retention_violations", "kind", how="max"), "{{kind}}")],
            told="0, or an incident of privacy.",
            bad_from=1,
            runbook="RetentionViolated",
            width=12,
        ),
        Graph(
            title="Rows that retention changed",
            lines=[Line(per_second(f"{_GAUGE}retention_rows_total", "step"), "{{step}}")],
            told="Every minute, in batches.",
        ),
        Graph(
            title="Passes, and ticks that were not enough",
            lines=[
                Line(per_second(f"{_GAUGE}retention_cycles_total"), "passes"),
                Line(per_second(f"{_GAUGE}retention_saturation_total"), "ticks that ended with a full batch"),
            ],
            told="Saturated for hours: rows fall behind their windows.",
            runbook="RetentionOverdue",
        ),
        Graph(
            title="Held, waiting, unmapped",
            lines=[
                Line(now(f"{_GAUGE}retention_held", "hold_source", how="max"), "held by {{hold_source}}"),
                Line(now(f"{_GAUGE}retention_waiting_stored", how="max"), "due, but the store cannot delete"),
                Line(now(f"{_GAUGE}retention_unmapped_columns", how="max"), "columns without a fate"),
            ],
            told="What is kept past a window, and why.",
            unit=COUNT,
            runbook="ColumnWithoutFate",
        ),
    ),
)

_ABUSE = Row(
    "Abuse",
    (
        Graph(
            title="Prompts judged",
            lines=[Line(per_second(f"{_GAUGE}prompts_total", "verdict"), "{{verdict}}")],
            told="Only those that admission's snapshot could not clear.",
        ),
        Graph(
            title="Rejections a minute, and of how many subjects",
            lines=[
                Line(now(f"{_GAUGE}rejections_per_minute", "reason", how="max"), "{{reason}}"),
                Line(now(f"{_GAUGE}rejecting_subjects", how="max"), "subjects"),
            ],
            told="Few subjects are contained by timeouts. Many subjects are a flood: limits at the edge, or raid mode.",
            unit=COUNT,
        ),
        Graph(
            title="Countermeasures",
            lines=[
                Line(per_second(f"{_GAUGE}countermeasures_total", "action"), "{{action}}"),
                Line(per_second(f"{_GAUGE}address_timeouts_total", "reason"), "timeout for {{reason}}"),
                Line(per_second(f"{_GAUGE}countermeasure_failures_total", "error_type"), "failed: {{error_type}}"),
                Line(per_second(f"{_GAUGE}address_checks_blind_total"), "checked blindly"),
            ],
            told="Failed and blind: Redis is away, and nobody is put out.",
            runbook="RedisAway",
        ),
        Graph(
            title="Filters in trouble",
            lines=[
                Line(per_second(f"{_GAUGE}slow_filters_total"), "ran out of time, counted as a match"),
                Line(per_second(f"{_GAUGE}broken_filters_total"), "cannot be compiled"),
            ],
            told="The log names the filter's id.",
        ),
        Graph(
            title="Alerts and decisions",
            lines=[
                Line(per_second(f"{_GAUGE}problem_job_alerts_total", "level"), "alert: {{level}}"),
                Line(per_second(f"{_GAUGE}decisions_total", "what"), "{{what}}"),
            ],
            told="What moderators were told, and what they did.",
        ),
    ),
)

_EVIDENCE = Row(
    "Evidence",
    (
        Graph(
            title="Events",
            lines=[
                Line(
                    per_second(f"{_GAUGE}evidence_captured_total", "reason", "text_state"),
                    "{{reason}}, text {{text_state}}",
                ),
                Line(per_second(f"{_GAUGE}evidence_write_failures_total", "error_type"), "not written: {{error_type}}"),
            ],
            told="One for each rejected prompt and each report of a worker.",
            runbook="EvidenceLost",
        ),
        Graph(
            title="Texts on their way to the store",
            lines=[
                Line(per_second(f"{_GAUGE}evidence_uploads_total"), "moved"),
                Line(per_second(f"{_GAUGE}evidence_upload_failures_total"), "failed"),
                Line(per_second(f"{_GAUGE}evidence_orphans_total", "kind"), "orphans {{kind}}"),
            ],
            told="Up to 500 in five seconds; what fails stays in its row.",
            runbook="EvidenceBacklog",
        ),
        Graph(
            title="Texts that wait, and the oldest",
            lines=[
                Line(now(f"{_GAUGE}evidence_pending_rows", how="max"), "texts"),
                Line(now(f"{_GAUGE}evidence_oldest_pending_seconds", how="max"), "seconds the oldest waits"),
            ],
            told="Well under the shortest window, or the text goes without having been stored.",
            unit=COUNT,
            runbook="EvidenceBacklog",
        ),
        Graph(
            title="Rows, as the planner estimates",
            lines=[Line(now(f"{_GAUGE}table_rows", "table", how="max"), "{{table}}")],
            told="Events are anonymised, never deleted by age: this grows with abuse.",
            unit=COUNT,
        ),
        Graph(
            title="Since somebody looked",
            lines=[Line(f"time() - {now(f'{_GAUGE}observation_timestamp', how='max')}", "seconds")],
            told="The gauges above are as old as this.",
            unit=SECONDS,
        ),
        shared.loops("moderation"),
    ),
)

BOARD = Board(
    name="moderation",
    title="Horde: moderation and retention",
    question="Is abuse held off, is evidence kept, and does nothing outlive its window?",
    rows=(_PROMISE, _ABUSE, _EVIDENCE, shared.rpcs("moderation")),
)
