"""How long moderation keeps what: the windows, how they are written, and which of them fit together.

A window is a number of days from the capture of a value to its removal. moderation.md A4.1 and A4.2.
"""

import re
from dataclasses import dataclass

MAX_CEILING_DAYS = 365
"""Nothing of a person is kept longer, unless it is held."""

MAX_WORKER_SUSPICION_DAYS = 36_500
"""Keeps the cut-off inside the range of dates; a longer window is no different from none."""

MAX_ACCESS_LOG_DAYS = 36_500

_WHOLE_DAYS = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
"""`int()` alone would also take `+30`, `030`, `3_0` and digits of other scripts."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """The windows in force, in days; None: with its record, and at most until the ceiling."""

    text_days: int | None = None
    ipaddr_days: int | None = 30
    ceiling_days: int = MAX_CEILING_DAYS
    worker_suspicion_days: int | None = None
    """None: for good. The ceiling is for evidence, and this history is none."""
    access_log_days: int = 365


def whole_days(value: object, *, most: int) -> int:
    """A number of days as a person writes it. Raises ValueError."""
    text = str(value).strip()
    if _WHOLE_DAYS.fullmatch(text) is None or int(text) > most:
        raise ValueError(f"has to be a whole number of days from 1 to {most}")
    return int(text)


def window_days(value: object) -> int | None:
    """A window: a whole number of days, or `none` in any case. Raises ValueError."""
    if value is None or str(value).strip().lower() == "none":
        return None
    try:
        return whole_days(value, most=MAX_CEILING_DAYS)
    except ValueError:
        raise ValueError(
            f"has to be a whole number of days from 1 to {MAX_CEILING_DAYS} that is no longer than the ceiling, or none"
        ) from None


def longer_than_ceiling(policy: RetentionPolicy) -> tuple[str, ...]:
    """The windows, by attribute, that would outlast the ceiling; none may."""
    windows = {"text_days": policy.text_days, "ipaddr_days": policy.ipaddr_days}
    return tuple(name for name, days in windows.items() if days is not None and days > policy.ceiling_days)
