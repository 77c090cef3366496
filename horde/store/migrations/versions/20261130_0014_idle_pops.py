"""A pop of an idle worker costs less. Runs: before the code."""

from horde.store.migrations import running

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

STEPS = ("functions/dispatch_nothing_fits_v1.sql", "migrations/sql/0014_idle_pops.sql")


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
