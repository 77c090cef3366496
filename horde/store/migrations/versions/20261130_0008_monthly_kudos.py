"""Kudos that recur, and what was made by period. Runs: before the code."""

from horde.store.migrations import running

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

STEPS = (
    "functions/admission_monthly_amount_v1.sql",
    "functions/admission_pay_monthly_v1.sql",
    "migrations/sql/0008_monthly_kudos.sql",
    "functions/dispatch_compile_text_stats_v1.sql",
    "migrations/sql/0008_text_stats.sql",
)

INDEXES = ("migrations/sql/0008_monthly_indexes.sql",)


def upgrade() -> None:
    """Every step, in one transaction; then the indexes."""
    running.run_files(*STEPS)
    running.build_indexes(*INDEXES)
