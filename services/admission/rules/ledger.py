"""What makes the ledger sound (ADR 0003): postings balance, balances equal them, no hold outlives its request."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

FINDINGS = ("balance_differs", "escrow_differs", "hold_outlives_its_request", "unbalanced_set")
"""Everything that can be wrong; what `horde admin ledger check` calls the same, with spaces."""

type Findings = dict[str, tuple[int, int]]
"""What is wrong with one account: what was expected and what was found, in hundredths; of holds and sets the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One account beside its postings, in hundredths of a kudo, as of one moment.

    `goes_on`: the sums begin with what an earlier look proved. `is_whole`: they reach to the present; else only to
    `through`, up to which the `settled` postings and their sums are complete for good.
    """

    id: int
    kudos: int
    escrow: int
    goes_on: bool
    is_whole: bool
    through: datetime
    posted_kudos: int
    posted_escrow: int
    settled_kudos: int
    settled_escrow: int
    settled: int
    unbalanced_sets: int
    stale_holds: int

    def findings(self) -> Findings:
        """What is wrong. A look that is not whole says nothing of balances."""
        return dict(self._findings())

    def _findings(self) -> Iterator[tuple[str, tuple[int, int]]]:
        if self.is_whole and self.kudos != self.posted_kudos:
            yield "balance_differs", (self.posted_kudos, self.kudos)
        if self.is_whole and self.escrow != self.posted_escrow:
            yield "escrow_differs", (self.posted_escrow, self.escrow)
        if self.stale_holds:
            yield "hold_outlives_its_request", (0, self.stale_holds)
        if self.unbalanced_sets:
            yield "unbalanced_set", (0, self.unbalanced_sets)


@dataclass(frozen=True, slots=True)
class Holds:
    """How many holds are active, and the seconds since the oldest was made."""

    active: int
    oldest: float


@dataclass(frozen=True, slots=True)
class Adjustment:
    """How often the floor of a class of accounts forgave something, and how much, in hundredths."""

    account_class: str
    adjustments: int
    amount: int
