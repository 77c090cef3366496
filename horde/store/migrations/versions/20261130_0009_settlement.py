"""Settling in fewer statements, and plans that stay good when the queue grows. Runs: before the code."""

from horde.store.migrations import running

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

STEPS = (
    "functions/admission_post_v2.sql",
    "functions/admission_charge_v1.sql",
    "functions/admission_settle_v2.sql",
    "functions/dispatch_pay_generation_v2.sql",
    "functions/dispatch_conclude_v2.sql",
    "functions/dispatch_store_result_v2.sql",
    "functions/dispatch_settle_cancelled_v2.sql",
    "functions/dispatch_find_candidates_v2.sql",
    "functions/dispatch_competing_load_v3.sql",
    "functions/dispatch_tell_waiting_v3.sql",
    "migrations/sql/0009_settlement.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
