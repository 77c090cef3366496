"""Durable state: the Postgres runtime and the migrations. Queries are not here: they are in `services/*/sql/`."""

from horde.store.engine import Record, Store, Transaction
from horde.store.errors import ForeignKeyViolation, RaisedByFunction, StoreUnavailable, UniqueViolation
from horde.store.queries import Queries, Query, QueryFileError, queries

__all__ = [
    "ForeignKeyViolation",
    "Queries",
    "Query",
    "QueryFileError",
    "RaisedByFunction",
    "Record",
    "Store",
    "StoreUnavailable",
    "Transaction",
    "UniqueViolation",
    "queries",
]
