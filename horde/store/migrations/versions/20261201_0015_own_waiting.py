"""What a request is not counted against, and what a worker is not given or told of. Runs: before the code."""

from horde.store.migrations import running

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

STEPS = (
    "functions/dispatch_count_waiting_v3.sql",
    "functions/admission_activate_v3.sql",
    "functions/dispatch_find_candidates_v3.sql",
    "functions/dispatch_active_requests_v2.sql",
    "migrations/sql/0015_own_waiting.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
