"""Tells whether the books balance, and where kudos go."""

from tools.observe.boards import shared
from tools.observe.forms import COUNT, SECONDS, Board, Figure, Graph, Line, Row
from tools.observe.promql import now, or_none, per_second

_PROOF = Row(
    "The ledger's proof",
    (
        Figure(
            title="Accounts that disprove it",
            lines=[Line(now("horde_admission_ledger_findings", "finding", how="max"), "{{finding}}")],
            told="0, or kudos are wrong somewhere: the log names the accounts.",
            bad_from=1,
            runbook="LedgerDrift",
            width=16,
        ),
        Figure(
            title="Since it was last proved",
            lines=[
                Line(
                    f"time() - {now('horde_loop_last_success_timestamp_seconds', how='max', loop='prove_ledger')}",
                    "prove_ledger",
                )
            ],
            told="It runs every hour.",
            unit=SECONDS,
            bad_from=7200,
            runbook="LoopLate",
            width=8,
        ),
    ),
)

_HOLDS = Row(
    "Holds",
    (
        Graph(
            title="Active holds",
            lines=[Line(now("horde_kudos_active_reservations", how="max"), "holds")],
            told="One for each waiting or running request that is not free.",
            unit=COUNT,
        ),
        Graph(
            title="The oldest hold",
            lines=[Line(now("horde_kudos_oldest_reservation_seconds", how="max"), "age")],
            told="A request lives for twenty minutes after its last change: far older is a hold that outlived it.",
            unit=SECONDS,
            runbook="LedgerDrift",
        ),
        Graph(
            title="Holds that were not covered",
            lines=[Line(per_second("horde_kudos_reservations_rejected_total"), "rejected")],
            told="Their clients were told what is missing, or their requests were lowered.",
        ),
    ),
)

_FLOW = Row(
    "Where kudos go",
    (
        Graph(
            title="Earned by workers",
            lines=[Line(or_none(per_second("horde_submit_kudos_sum")), "kudos a second")],
            told="What stored replies earned.",
            unit=COUNT,
        ),
        Graph(
            title="What a reply earns",
            lines=[
                Line(f"{per_second('horde_submit_kudos_sum')} / {per_second('horde_submit_kudos_count')}", "mean"),
                Line(f"histogram_quantile(0.95, {per_second('horde_submit_kudos_bucket', 'le')})", "p95"),
            ],
            told="Jumps with new models and longer replies.",
            unit=COUNT,
        ),
        Graph(
            title="Forgiven by floors",
            lines=[
                Line(
                    per_second("horde_kudos_floor_adjustments_kudos_total", "account_class"), "{{account_class}}, kudos"
                ),
                Line(per_second("horde_kudos_floor_adjustments_total", "account_class"), "{{account_class}}, times"),
            ],
            told="Debts that vanish because a balance never sinks below its floor. Anonymous use makes most of it.",
            unit=COUNT,
        ),
        Graph(
            title="Transfers and grants",
            lines=[
                Line(per_second("horde_admission_kudos_transfers_total"), "transfers"),
                Line(per_second("horde_kudos_transfers_idempotent_replays_total"), "repeats of transfers"),
                Line(per_second("horde_admission_monthly_kudos_paid_total"), "months paid"),
            ],
            told="A repeat moves nothing.",
        ),
        Graph(
            title="Free, funded, refused",
            lines=[Line(per_second("horde_text_free_allowance_decisions_total", "outcome"), "{{outcome}}")],
            told="Which requests cost their sender something up front.",
        ),
        Graph(
            title="Statements that move kudos",
            lines=[
                Line(
                    per_second(
                        "horde_store_query_seconds_count",
                        "query",
                        query="~admission.(activate|transfer|award|pay_monthly|promote)|dispatch.(store_result|settle_cancelled)",
                    ),
                    "{{query}}",
                )
            ],
            told="Each is one commit.",
        ),
    ),
)

BOARD = Board(
    name="money",
    title="Horde: money",
    question="Do the books balance, and where do kudos go?",
    rows=(_PROOF, _HOLDS, _FLOW, Row("Its loops", (shared.loops("admission"),))),
)
