"""How long an address stays out, and when a model rejection counts. base-domain 7.2 and 7.6, moderation.md A6."""

from dataclasses import dataclass
from datetime import timedelta

SUSPICION_MEMORY = timedelta(hours=24)
"""A report is remembered for this long after the last one."""

REJECTION_WINDOW = timedelta(hours=1)
"""A fixed hour, from the first model rejection of a subject."""

_MINUTES = 3
_FORGIVEN_PROXIED = 10
"""Rejections that may come through a proxy in an hour before moderators are told."""


@dataclass(frozen=True, slots=True)
class Leniency:
    """How long a report is remembered, and the longest timeout that reports can add up to."""

    memory: timedelta
    longest: timedelta


NO_LIMIT = Leniency(SUSPICION_MEMORY, timedelta(days=30))
"""The longest is as long as a moderator may set one."""

SERVICE_ADDRESS = Leniency(timedelta(hours=1), timedelta(minutes=5))
"""Many people stand behind the address of a service. base-domain 1.7 and 7.2."""


def timeout_after(earlier_reports: int) -> timedelta:
    """How long the address stays out after one more report: 3, 9, 15, 21 … minutes."""
    return timedelta(minutes=(2 * earlier_reports + 1) * _MINUTES)


def model_rejection_times_out(count: int, *, threshold: int, raid: bool) -> bool:
    """Whether the `count`th model rejection of this hour earns a timeout: only above the threshold, or in a raid."""
    return raid or count > threshold


def proxy_earns_notice(count: int) -> bool:
    """Whether moderators are told of the `count`th rejection of this hour that came through one proxy: of one alone.

    The reference compares the count before it with 10, and tells of every further one too.
    """
    return count - 1 == _FORGIVEN_PROXIED + 1
