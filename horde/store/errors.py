"""What a statement may fail with, in our words: nobody outside this room sees an error of the driver.

An error that is none of these is a bug in the statement and passes through as it is.
"""

from collections.abc import Mapping

import asyncpg

from horde.failures import Outage

OWN_STATE_CLASS = "HD"
"""The first two characters of every SQLSTATE that our own SQL functions raise. No standard class uses them."""

_OUTAGES = (
    OSError,  # refused, reset, unreachable, no such host
    TimeoutError,  # no connection free in time, or a statement that took too long
    asyncpg.PostgresConnectionError,  # SQLSTATE class 08
    asyncpg.OperatorInterventionError,  # class 57: the server is stopping, starting or cancelled us
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,  # a fail-over left us with a replica
    asyncpg.DeadlockDetectedError,  # the victim of a deadlock did nothing wrong; a repeat succeeds
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.InvalidCachedStatementError,  # a migration ran; the next try prepares the statement again
)
"""Everything after which the same call, repeated a moment later, may well succeed."""

_LOST = (
    ConnectionError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.ReadOnlySQLTransactionError,
)

CLOSED = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError)
"""What tidying up a connection may raise when it is gone already."""


class StoreUnavailable(Outage):
    """The database cannot answer now: no connection, a lost one, a lock or a time-out. A write may have happened."""

    def __init__(self, detail: str) -> None:
        super().__init__("postgres", detail)


class UniqueViolation(Exception):
    """A row with these values exists already. `constraint` is the name of the constraint or index that says so."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class ForeignKeyViolation(Exception):
    """A row refers to one that is gone, or one that is referred to was to go. `constraint` says which rule it was."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class RaisedByFunction(Exception):
    """One of our SQL functions said no: `code` is its SQLSTATE (`HD001`), then its MESSAGE and its DETAIL."""

    def __init__(self, code: str, message: str, detail: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.detail = detail


OUTCOMES: Mapping[type[Exception], str] = {
    StoreUnavailable: "unavailable",
    UniqueViolation: "unique",
    ForeignKeyViolation: "foreign_key",
    RaisedByFunction: "raised",
}
"""How the metrics call each of them."""

KNOWN = tuple(OUTCOMES)
"""What a statement may fail with, for an `except`."""


def translated(error: Exception) -> Exception | None:
    """Our word for an error of the driver; None for one that is a bug."""
    if isinstance(error, asyncpg.UniqueViolationError):
        return UniqueViolation(error.constraint_name or "")
    if isinstance(error, asyncpg.ForeignKeyViolationError):
        return ForeignKeyViolation(error.constraint_name or "")
    if isinstance(error, asyncpg.PostgresError) and (error.sqlstate or "").startswith(OWN_STATE_CLASS):
        message = str(error.args[0]) if error.args else ""
        return RaisedByFunction(error.sqlstate or "", message, error.detail or message)
    if isinstance(error, _OUTAGES) or _is_closed(error):
        return StoreUnavailable(f"{type(error).__name__}: {error}")
    return None


def where(error: asyncpg.PostgresError) -> str:
    """What may be logged of a bug in a statement: not its detail, and its message only where that quotes no value."""
    state = error.sqlstate or ""
    facts = {
        # class 42: a wrong name or a missing right, told in words of the statement itself
        "message": error.args[0] if state.startswith("42") and error.args else None,
        "SQLSTATE": error.sqlstate,
        "table": error.table_name,
        "column": error.column_name,
        "constraint": error.constraint_name,
    }
    return ", ".join(f"{name} {value}" for name, value in facts.items() if value)


def is_lost_connection(error: Exception) -> bool:
    """Whether a statement failed because its connection went away, so that a fresh one may do better."""
    return isinstance(error, _LOST) or _is_closed(error)


def _is_closed(error: Exception) -> bool:
    """The driver says InterfaceError for a connection that is gone and for wrong arguments; only the words differ."""
    return isinstance(error, asyncpg.InterfaceError) and "clos" in str(error)
