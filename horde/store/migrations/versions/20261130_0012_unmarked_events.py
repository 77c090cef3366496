"""Events that nobody has marked stand in a list of their own. Runs: before the code."""

from horde.store.migrations import running

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

STEPS = ("migrations/sql/0012_unmarked_events.sql",)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
