"""Which requests the pops of this process are claiming at this moment, so that they go for different ones.

A claim that another is about to win costs a write and a second look at the queue. Other processes are not asked:
there the claim itself decides, as it does here.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from services.dispatch.rules.jobs import Candidate


class Claiming:
    """The requests that wait for a single result and that somebody here is taking."""

    def __init__(self) -> None:
        self._taken: set[UUID] = set()

    @property
    def under_way(self) -> int:
        """How many are being taken."""
        return len(self._taken)

    def left(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of which something may be left when the claims under way are done."""
        return [candidate for candidate in candidates if candidate.request_id not in self._taken]

    @contextmanager
    def of(self, candidate: Candidate) -> Iterator[None]:
        """While the block runs, others leave this one alone, if the claim takes all of it."""
        if not candidate.is_single:
            yield
            return
        self._taken.add(candidate.request_id)
        try:
            yield
        finally:
            self._taken.discard(candidate.request_id)
