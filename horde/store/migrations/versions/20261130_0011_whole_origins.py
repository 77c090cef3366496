"""A request keeps the whole text that stands in its address's place. Runs: before the code."""

from horde.store.migrations import running

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STEPS = ("migrations/sql/0011_whole_origins.sql",)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
