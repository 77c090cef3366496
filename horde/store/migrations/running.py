"""How a revision runs: SQL files as they stand, in the revision's own transaction."""

from importlib import resources

from alembic import op
from sqlalchemy.util import await_only


def run_files(*paths: str) -> None:
    """Runs the files, in order; any number of statements each, all or nothing. Paths start at `horde/store`."""
    # Opens the transaction; what follows speaks to the driver, which takes many statements at once.
    op.execute("SELECT 1")
    driver = op.get_bind().connection.driver_connection
    if driver is None:
        raise RuntimeError("the migration has no connection")
    for path in paths:
        text = resources.files("horde.store").joinpath(*path.split("/")).read_text(encoding="utf-8")
        try:
            await_only(driver.execute(text))
        except Exception as error:
            error.add_note(f"in horde/store/{path}")
            raise
