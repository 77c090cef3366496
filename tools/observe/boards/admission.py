"""Tells who gets in, how fast, and why others do not."""

from tools.observe.boards import shared
from tools.observe.forms import COUNT, SECONDS, Board, Graph, Line, Row
from tools.observe.promql import mean, per_second, quantile, quantiles

_DECISIONS = Row(
    "What became of submissions",
    (
        Graph(
            title="Answered",
            lines=[
                Line(per_second("horde_admission_chats_total", "outcome"), "chat {{outcome}}"),
                Line(per_second("horde_admission_texts_total", "outcome"), "text {{outcome}}"),
            ],
            told="Queued, repeated under the same operation key, or quoted for a dry run.",
            stacked=True,
        ),
        Graph(
            title="Refused, by reason",
            lines=[Line(per_second("horde_rpc_refusals_total", "reason", service="admission"), "{{reason}}")],
            told="A refused call changed nothing. Many of one reason: one client, or one rule that changed.",
        ),
        Graph(
            title="Free, funded or refused",
            lines=[
                Line(
                    per_second("horde_text_free_allowance_decisions_total", "requester", "outcome"),
                    "{{requester}} {{outcome}}",
                )
            ],
            told="Refused grows with the wait: the allowance of free tokens shrinks under load.",
        ),
        Graph(
            title="The wait allowances are sized by",
            lines=quantiles("horde_text_free_allowance_estimated_wait_seconds"),
            told="The estimate, not the wait itself; that one is on the dispatch dashboard.",
            unit=SECONDS,
        ),
        Graph(
            title="How prompts fit",
            lines=[
                Line(
                    per_second("horde_text_context_fit_total", "context_fit_mode", "context_fit_outcome"),
                    "{{context_fit_mode}} {{context_fit_outcome}}",
                )
            ],
            told="Truncated and refused: prompts longer than any context to be had.",
        ),
        Graph(
            title="Lengths lowered to what workers declare",
            lines=[
                Line(
                    per_second("horde_chat_max_length_lowered_total", "requested_bucket", "declared_bucket"),
                    "{{requested_bucket}} to {{declared_bucket}}",
                )
            ],
            told="Clients that ask for more than any worker of the model generates.",
        ),
    ),
)

_STEPS = Row(
    "Where the time goes",
    (
        Graph(
            title="A submission",
            lines=quantiles("horde_generate_duration_seconds"),
            told="From the RPC's start to its answer, refusals included.",
            unit=SECONDS,
        ),
        Graph(
            title="Its steps, mean",
            lines=[
                Line(mean("horde_generate_validate_duration_seconds"), "all checks"),
                Line(mean("horde_generate_validate_find_user_duration_seconds"), "of them: who submits"),
                Line(mean("horde_generate_validate_prompt_filter_duration_seconds"), "of them: judging the prompt"),
                Line(mean("horde_generate_activate_wp_duration_seconds"), "letting it in, with its objects"),
                Line(mean("horde_wp_activate_duration_seconds"), "of it: the statement"),
            ],
            told="The step that grew is the one to look into: SQL, moderation or media.",
            unit=SECONDS,
        ),
        Graph(
            title="Age when queued",
            lines=quantiles("horde_wp_activation_age_seconds"),
            told="Requests with images are older: their images are stored first.",
            unit=SECONDS,
        ),
        Graph(
            title="Is the address in timeout? p99",
            lines=[
                Line(
                    quantile(0.99, "horde_countermeasures_ip_check_duration_seconds", "job", "cached"),
                    "{{job}}, cached={{cached}}",
                )
            ],
            told="Asked of moderation at most once a second for each address.",
            unit=SECONDS,
        ),
        shared.neighbours("admission"),
        shared.statements("admission"),
    ),
)

_HEALTH = Row(
    "Its process",
    (
        shared.loops("admission"),
        Graph(
            title="Models of the reference",
            lines=[Line('min by (job) (horde_model_reference_models{instance=~"$instance"})', "{{job}}")],
            told="0: prices are those of unknown models.",
            unit=COUNT,
            runbook="ReferenceMissing",
        ),
        Graph(
            title="Reads of the model reference",
            lines=[Line(per_second("horde_model_reference_loads_total", "job", "outcome"), "{{job}} {{outcome}}")],
            told="Once an hour; the last good one stays in use.",
            runbook="ReferenceMissing",
        ),
        shared.pool("admission"),
    ),
)

BOARD = Board(
    name="admission",
    title="Horde: admission",
    question="Who gets in, how fast, and why do others not?",
    rows=(_DECISIONS, shared.rpcs("admission"), _STEPS, _HEALTH),
)
