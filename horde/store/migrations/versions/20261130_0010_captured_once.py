"""What was captured of an event may be removed and never changed, whoever updates it. Runs: before the code."""

from horde.store.migrations import running

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

STEPS = ("migrations/sql/0010_captured_once.sql",)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
