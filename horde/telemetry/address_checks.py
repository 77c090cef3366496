"""How long a call waits to learn whether its address is in timeout: base-domain 12's `horde.countermeasures.ip_check`.

Admission asks for who submits, dispatch for who pops; both remember the answer for a while.
"""

from horde.telemetry.metrics import SECONDS, Histogram

_CHECKS = Histogram(
    "horde_countermeasures_ip_check_duration_seconds",
    "Learning whether an address is in timeout; cached: without asking moderation.",
    ("cached",),
    buckets=SECONDS,
)
_CACHED, _ASKED = _CHECKS.labels("true"), _CHECKS.labels("false")


def address_checked(seconds: float, *, cached: bool) -> None:
    """A caller knows how its address stands, or that nobody can tell."""
    (_CACHED if cached else _ASKED).observe(seconds)
