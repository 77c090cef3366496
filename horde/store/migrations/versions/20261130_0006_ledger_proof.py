"""The ledger's proof. Runs: before the code."""

from horde.store.migrations import running

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

STEPS = (
    "migrations/sql/0006_ledger_proof.sql",
    "functions/dispatch_ended_requests_v1.sql",
    "migrations/sql/0006_ledger_grants.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
