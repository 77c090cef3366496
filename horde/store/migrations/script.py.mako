"""${message}"""

from horde.store.migrations import running

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files("migrations/sql/${up_revision}_change.sql")
