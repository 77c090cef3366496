"""`horde migrate`: bring the database to the newest schema, or say whether this code works on it."""

from typing import Annotated

import typer


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail unless this code works on the database.")
    ] = False,
) -> None:
    """Bring the database of HORDE_DATABASE_URL to the newest schema. Safe while services run."""
    from horde.settings import PostgresSettings, load
    from horde.store import migrate as migrations

    url = load(PostgresSettings).database_url
    if check:
        migrations.check(url)
        typer.echo("this code works on the database")
    else:
        migrations.upgrade(url)
        typer.echo("the database is ready for this code")
