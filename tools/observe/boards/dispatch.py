"""Tells whether jobs reach workers, and whether their replies come back."""

from tools.observe.boards import shared
from tools.observe.forms import COUNT, SECONDS, Board, Graph, Line, Row
from tools.observe.promql import mean, now, per_second, quantile, quantiles

_QUEUE = Row(
    "The queue",
    (
        Graph(
            title="Waiting for a worker",
            lines=[
                Line(
                    quantile(0.95, "horde_text_queue_wait_seconds", "requester", "chat"), "{{requester}}, chat={{chat}}"
                )
            ],
            told="95 % are in a worker's hands sooner. Anonymous requests wait behind all others by design.",
            unit=SECONDS,
            runbook="QueueStalls",
        ),
        Graph(
            title="Jobs handed out",
            lines=[Line(per_second("horde_pop_returned_jobs_sum", "outcome"), "{{outcome}}")],
            told="Jobs a second, not pops.",
        ),
        Graph(
            title="Why workers pass requests over",
            lines=[Line(per_second("horde_pop_skipped_total", "skip_reason"), "{{skip_reason}}")],
            told="What the workers that are there lack for the requests that wait.",
        ),
        Graph(
            title="Pops that wait",
            lines=[
                Line(now("horde_pop_waiting"), "waiting now"),
                Line(per_second("horde_pop_calls_total", "outcome"), "woken: {{outcome}}"),
            ],
            told="Waiting pops cost Postgres nothing until they are woken.",
            unit=COUNT,
            runbook="ListenLost",
        ),
        Graph(
            title="Considered by one pop, mean",
            lines=[Line(mean("horde_pop_candidates_evaluated"), "requests")],
            told="Grows when many requests fit a lane but not the worker: see why they are passed over.",
            unit=COUNT,
        ),
        Graph(
            title="Claims lost and given back",
            lines=[
                Line(per_second("horde_pop_claims_lost_total"), "another worker was faster"),
                Line(per_second("horde_pop_given_back_total"), "images or messages could not be delivered"),
            ],
            told="Given back: look at media.",
        ),
    ),
)

_POP = Row(
    "A pop",
    (
        Graph(
            title="One look of a pop",
            lines=quantiles("horde_pop_duration_seconds"),
            told="Without the time that a waiting pop waits.",
            unit=SECONDS,
        ),
        Graph(
            title="Its steps, mean",
            lines=[
                Line(mean("horde_pop_pre_eval_duration_seconds"), "before the queue"),
                Line(mean("horde_pop_validate_duration_seconds"), "of it: who pops"),
                Line(mean("horde_pop_check_in_duration_seconds"), "of it: check-in"),
                Line(mean("horde_pop_eval_loop_duration_seconds", "outcome"), "looking and claiming, {{outcome}}"),
                Line(mean("horde_pop_start_generation_duration_seconds"), "handing out"),
            ],
            told="Handing out asks media and progress; the rest is SQL.",
            unit=SECONDS,
        ),
        Graph(
            title="Speed caps what chat workers are offered",
            lines=[Line(per_second("horde_pop_lease_capacity_limited_total", "gentype"), "pops")],
            told="Their measured speed does not finish what they declare within a lease.",
        ),
    ),
)

_REPLIES = Row(
    "Replies",
    (
        Graph(
            title="Submits",
            lines=[Line(per_second("horde_submit_outcomes_total", "outcome"), "{{outcome}}")],
            told="`error`: a reply that was refused, which its worker is told.",
            stacked=True,
        ),
        Graph(
            title="What workers give up for",
            lines=[
                Line(
                    per_second("horde_chat_worker_faults_total", "reason", "worker_trusted"),
                    "{{reason}}, trusted={{worker_trusted}}",
                )
            ],
            told="Reasons that workers send with a chat job's fault.",
        ),
        Graph(
            title="Leases that lapse",
            lines=[
                Line(
                    per_second("horde_text_stale_aborts_total", "worker_trusted", "chat"),
                    "lapsed, trusted={{worker_trusted}}, chat={{chat}}",
                ),
                Line(
                    per_second("horde_text_lease_renewals_total", "outcome", "worker_trusted"),
                    "renewed: {{outcome}}, trusted={{worker_trusted}}",
                ),
            ],
            told="Lapsed: the worker went silent. At its cap: it still posts, but has had its time.",
            runbook="LeasesLapse",
        ),
        Graph(
            title="A submit",
            lines=quantiles("horde_submit_duration_seconds"),
            told="Replies and faults.",
            unit=SECONDS,
        ),
        Graph(
            title="Its steps, mean",
            lines=[
                Line(mean("horde_submit_get_progen_duration_seconds"), "reading the job"),
                Line(mean("horde_submit_state_handling_duration_seconds"), "judging the reply"),
                Line(mean("horde_dispatch_format_check_seconds", "outcome"), "of it: its format, {{outcome}}"),
                Line(mean("horde_submit_commit_duration_seconds"), "storing and paying"),
            ],
            told="Formats are checked in processes of their own; a hostile schema costs at most a second of one.",
            unit=SECONDS,
        ),
        Graph(
            title="Requests that end without a reply",
            lines=[
                Line(per_second("horde_dispatch_faulted_requests_total"), "faulted too often"),
                Line(per_second("horde_dispatch_removed_requests_total", "answered"), "removed, answered={{answered}}"),
                Line(per_second("horde_dispatch_cancels_total", "outcome"), "cancel {{outcome}}"),
            ],
            told="Removed without an answer: nobody could serve them in time.",
        ),
        Graph(
            title="Text jobs over their worker's capacity",
            lines=[
                Line(
                    per_second("horde_text_gate_shadow_assignments_total", "worker_trusted"),
                    "assigned, trusted={{worker_trusted}}",
                ),
                Line(per_second("horde_text_gate_shadow_outcomes_total", "outcome"), "ended: {{outcome}}"),
            ],
            told="What the speed gate of chat would have refused, were it applied to text.",
        ),
        Graph(
            title="Such jobs, pop to submit",
            lines=quantiles("horde_text_gate_shadow_service_seconds"),
            told="Only those that were completed.",
            unit=SECONDS,
        ),
        Graph(
            title="Empty replies",
            lines=[
                Line(
                    per_second("horde_text_empty_generations_total", "bridge_agent", "state"),
                    "{{bridge_agent}}, {{state}}",
                )
            ],
            told="Stored and paid, but worth a word with the worker's maker.",
        ),
    ),
)

_AFTER = Row(
    "Afterwards and besides",
    (
        Graph(
            title="Work after commits",
            lines=[
                Line(per_second("horde_dispatch_aftermath_total", "what", "outcome"), "{{what}} {{outcome}}"),
            ],
            told="Signals, leases and deletes that follow a commit; what fails is repeated by a loop.",
        ),
        Graph(
            title="Work that waits for its turn",
            lines=[Line(now("horde_dispatch_aftermath_waiting"), "after commits")],
            told="Grows while progress or media is slow.",
            unit=COUNT,
        ),
        Graph(
            title="Webhooks of text requests",
            lines=[Line(per_second("horde_webhook_outcomes_total", "outcome"), "{{outcome}}")],
            told="Given up: three tries failed, or its address may not be called. Dropped: too much waited already.",
        ),
        Graph(
            title="A try of a webhook, mean",
            lines=[
                Line(
                    mean("horde_webhook_attempt_duration_seconds", "attempt", "outcome", "status_code"),
                    "try {{attempt}}: {{outcome}} {{status_code}}",
                ),
                Line(mean("horde_submit_webhook_call_duration_seconds"), "queueing one, in the submit"),
            ],
            told="Exception: not reached, silent for three seconds, or without a certificate for its name.",
            unit=SECONDS,
        ),
        Graph(
            title="Since when work of loops is due",
            lines=[Line(now("horde_dispatch_loop_lag_seconds", "loop", how="max"), "{{loop}}")],
            told="0: nothing is due.",
            unit=SECONDS,
            runbook="LoopBehind",
        ),
        Graph(
            title="Reports to moderation, VPN checks",
            lines=[
                Line(per_second("horde_dispatch_worker_reports_total", "kind", "outcome"), "{{kind}} {{outcome}}"),
                Line(per_second("horde_dispatch_vpn_checks_total", "verdict"), "VPN: {{verdict}}"),
            ],
            told="Reports wait in rows until moderation has them.",
        ),
        shared.neighbours("dispatch"),
        shared.statements("dispatch"),
        shared.loops("dispatch"),
        shared.pool("dispatch"),
    ),
)

BOARD = Board(
    name="dispatch",
    title="Horde: dispatch and queue",
    question="Do jobs reach workers, and do their replies come back?",
    rows=(_QUEUE, _POP, _REPLIES, shared.rpcs("dispatch"), _AFTER),
)
