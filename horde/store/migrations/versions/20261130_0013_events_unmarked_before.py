"""The list of events that nobody has marked is complete. Runs: before the code."""

from horde.store.migrations import running

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

STEPS = ("migrations/sql/0013_events_unmarked_before.sql",)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
