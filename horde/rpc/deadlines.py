"""How long this task may still take. Set from the incoming call, read by every outgoing one, so deadlines shrink."""

import time
from contextvars import ContextVar

_ends_at: ContextVar[float | None] = ContextVar("deadline", default=None)

OWN_SHARE = 0.02
"""Seconds kept back from a neighbour's time: enough to turn its failure into an answer before our own caller gives up,
so that the caller learns which step was slow. Boulder keeps the same 20 ms."""


def adopt(seconds_left: float | None) -> None:
    """This task now answers a call that is waited for `seconds_left` seconds; None: for ever."""
    _ends_at.set(None if seconds_left is None else time.monotonic() + seconds_left)


def shrink(wanted: float) -> float:
    """The seconds that an outgoing call may take: `wanted`, or what our own caller leaves. Zero or less: too late."""
    ends_at = _ends_at.get()
    return wanted if ends_at is None else min(wanted, ends_at - time.monotonic() - OWN_SHARE)


def left() -> float | None:
    """The seconds until our caller gives up; None when nobody waits."""
    ends_at = _ends_at.get()
    return None if ends_at is None else ends_at - time.monotonic()
