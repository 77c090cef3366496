"""Moderation, completed. Runs: before the code."""

from horde.store.migrations import running

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STEPS: tuple[str, ...] = (
    "migrations/sql/0004_moderation.sql",
    "migrations/sql/0004_review.sql",
    "migrations/sql/0004_operations.sql",
    "functions/moderation_account_restricted_v1.sql",
    "functions/moderation_hold_source_v1.sql",
    "functions/moderation_preview_retention_v1.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
