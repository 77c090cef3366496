"""What this service asks of Postgres: one function for one statement of `sql/`, rows turned into words of the rules."""

from horde.store import Store, Transaction, queries

type Access = Store | Transaction
"""Either way to run one statement: on its own, or inside a transaction."""

QUERIES = queries("services.dispatch")
