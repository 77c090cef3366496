"""Why accounts and workers are suspected: the catalogue of base-domain 2.7. Numbers and names are upstream's."""

from dataclasses import dataclass
from types import MappingProxyType

USER_SUSPICION_THRESHOLD = 5
WORKER_SUSPICION_THRESHOLD = 5
"""Reports at which an untrusted account, or a worker of one, counts as suspicious. base-domain 2.7."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One reason. One that does not accumulate is reported once for each account and worker."""

    id: int
    name: str
    description: str
    accumulates: bool = False


_ALL = (
    Suspicion(0, "WORKER_NAME_LONG", "Worker name too long"),
    Suspicion(1, "WORKER_NAME_EXTREME", "Worker name extremely long"),
    Suspicion(2, "WORKER_PROFANITY", "Discovered profanity in worker name"),
    Suspicion(3, "UNSAFE_IP", "Worker using unsafe IP"),
    Suspicion(4, "EXTREME_MAX_PIXELS", "Worker claiming they can generate too many pixels"),
    Suspicion(5, "UNREASONABLY_FAST", "Generation unreasonably fast", accumulates=True),
    Suspicion(6, "USERNAME_LONG", "Username too long"),
    Suspicion(7, "USERNAME_PROFANITY", "Profanity in username"),
    Suspicion(8, "CORRUPT_PROMPT", "Corrupt prompt detected"),
    Suspicion(9, "TOO_MANY_JOBS_ABORTED", "Too many jobs aborted in a short amount of time", accumulates=True),
)

CATALOGUE = MappingProxyType({one.id: one for one in _ALL})
