"""The two failures that every room of the foundation has to tell apart from a bug.

A `StartError` is the operator's to mend, so it is one line and no traceback. An `Outage` mends itself:
something we depend on cannot be reached now, and a repeat later may succeed. Both stand below the rooms
that raise them, so that the RPC runtime can answer for the stores without importing them.
"""


class StartError(Exception):
    """A process cannot start. The message says what is wrong and what to do, in one line."""


class Outage(Exception):
    """A store or a neighbour cannot be reached now: "try again". Logged without a traceback."""

    def __init__(self, whom: str, detail: str) -> None:
        super().__init__(f"{whom}: {detail}")
        self.whom = whom
        self.detail = detail
