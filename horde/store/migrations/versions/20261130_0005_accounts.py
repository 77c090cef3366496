"""Accounts as their holders and operators manage them. Runs: before the code."""

from horde.store.migrations import running

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STEPS = (
    "migrations/sql/0005_kudos_flow.sql",
    "functions/dispatch_charged_facts_v1.sql",
    "migrations/sql/0005_accounts.sql",
    "functions/dispatch_account_workers_v1.sql",
    "functions/dispatch_active_requests_v1.sql",
    "functions/dispatch_sharedkey_load_v1.sql",
    "functions/dispatch_end_requests_v1.sql",
    "functions/dispatch_remove_workers_v1.sql",
    "functions/dispatch_reset_suspicions_v1.sql",
    "functions/admission_transfer_v1.sql",
    "functions/admission_award_v1.sql",
    "migrations/sql/0005_account_grants.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
