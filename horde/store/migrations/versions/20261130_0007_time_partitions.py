"""Tables that grow with time. Runs: before the code."""

from horde.store.migrations import running

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

BOUND = "migrations/sql/0007_stats_bound.sql"
STEPS = (
    "functions/dispatch_keep_stats_months_v1.sql",
    "migrations/sql/0007_time_partitions.sql",
)


def upgrade() -> None:
    """The bound of what is there, checked while it is written to; then every step, in one transaction."""
    running.run_files(BOUND)
    running.validate("dispatch.text_gen_stats", "ck_text_gen_stats_before")
    running.run_files(*STEPS)
