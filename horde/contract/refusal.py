"""Refusal: the one expected error.

A rule may raise it, a handler lets it pass, the wire carries it, the gateway renders it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from horde.contract.reasons import Reason

_NO_FACTS: Mapping[str, object] = MappingProxyType({})


class Refusal(Exception):
    """An expected "no": why, in words for the caller, with facts that the answer's JSON carries beside them."""

    def __init__(
        self, reason: Reason, message: str, facts: Mapping[str, object] = _NO_FACTS, *, retry_after: int | None = None
    ) -> None:
        """`facts` must be JSON values; `retry_after` is in seconds."""
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.facts = facts
        self.retry_after = retry_after

    def __repr__(self) -> str:
        return f"Refusal({self.reason.key}, {self.message!r})"
