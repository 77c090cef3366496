"""What has become of a request: how many of its jobs wait, run and ended, and whether it is done.

Source: chat reference, Structured submit (completion); base-domain 3.8. The SQL function conclude_v2 decides alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """A request and its generations, counted. Fake generations are in none of the numbers."""

    n: int
    """Jobs still to hand out."""
    jobs: int
    """Jobs asked for."""
    processing: int
    finished: int
    restarted: int
    """Faulted generations."""
    faulted: bool
    cancelled: bool

    @property
    def is_done(self) -> bool:
        """Faulted, or nothing waits and nothing runs, and every result is there or the rest was cancelled."""
        settled = self.n == 0 and self.processing == 0
        return self.faulted or (settled and (self.finished >= self.jobs or self.cancelled))

    @property
    def waiting(self) -> int:
        """Jobs that wait, as the status shows them: never more than are neither running nor finished."""
        return min(self.n, max(self.jobs - self.processing - self.finished, 0))

    @property
    def is_queued(self) -> bool:
        """Whether a worker could still be given a job of it."""
        return self.n > 0 and not self.faulted
