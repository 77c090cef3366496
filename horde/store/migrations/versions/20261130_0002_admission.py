"""Admission, completed. Runs: before the code."""

from horde.store.migrations import running

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STEPS = (
    "functions/dispatch_count_waiting_v2.sql",
    "functions/dispatch_tell_waiting_v2.sql",
    "functions/dispatch_accept_v2.sql",
    "functions/dispatch_enqueue_v2.sql",
    "functions/admission_activate_v2.sql",
    "functions/dispatch_measure_availability_v2.sql",
    "functions/admission_read_submission_v1.sql",
    "migrations/sql/0002_admission_grants.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
