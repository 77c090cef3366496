"""How long an address stays out, and when a model rejection counts. base-domain 7.2 and 7.6, moderation.md A6."""

from datetime import timedelta

SUSPICION_MEMORY = timedelta(hours=24)
"""A report is remembered for this long after the last one."""

REJECTION_WINDOW = timedelta(hours=1)
"""A fixed hour, from the first model rejection of a subject."""

_MINUTES = 3


def timeout_after(earlier_reports: int) -> timedelta:
    """How long the address stays out after one more report: 3, 9, 15, 21 … minutes."""
    return timedelta(minutes=(2 * earlier_reports + 1) * _MINUTES)


def model_rejection_times_out(count: int, *, threshold: int, raid: bool) -> bool:
    """Whether the `count`th model rejection of this hour earns a timeout: only above the threshold, or in a raid."""
    return raid or count > threshold
