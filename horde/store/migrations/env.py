"""What Alembic runs: the revisions, one transaction each, on the connection that `horde.store.migrate` made."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="horde_schema_version",
    version_table_schema="public",
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
