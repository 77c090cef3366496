"""Dispatch, completed. Runs: before the code."""

from horde.store.migrations import running

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

STEPS = (
    "migrations/sql/0003_workers.sql",
    "functions/admission_suspect_v1.sql",
    "functions/dispatch_suspect_worker_v1.sql",
    "functions/dispatch_count_fault_v2.sql",
    "functions/dispatch_fault_generation_v2.sql",
    "migrations/sql/0003_worker_grants.sql",
    "migrations/sql/0003_objects.sql",
    "functions/dispatch_discard_v2.sql",
    "functions/dispatch_keep_inline_v1.sql",
    "migrations/sql/0003_object_grants.sql",
    "migrations/sql/0003_queue.sql",
    "functions/dispatch_competing_load_v2.sql",
    "functions/dispatch_find_candidates_v1.sql",
    "migrations/sql/0003_queue_grants.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
