"""A year of moderation in the real tables of a system: accounts, workers, events, notes, marks and logs."""

import hashlib
from dataclasses import dataclass
from typing import Final

from horde.contract.ip_subject import ip_subject_key
from horde.store import Store, queries

_SQL = queries("horde.cli")

TEXT_DAYS: Final = 90
ADDRESS_DAYS: Final = 30
SUSPICION_DAYS: Final = 180
"""The windows that the events are made for: those of retention that have none by default get one."""

_ACCOUNTS: Final = 50_000
_WORKERS: Final = 20_000
_SUBJECTS: Final = 20_000
_A_STATEMENT: Final = 50_000
_LOGGED: Final = 5
"""Events for each line of the logs."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Fills one database. Nothing takes the rows away again: events are never deleted."""

    store: Store
    secret_key: str
    moderator: int

    async def fill(self, events: int) -> int:
        """Everything, and lets Postgres settle as it would within a minute; the id of the newest event."""
        await self.store.execute(_SQL["fill_review_accounts"], min(events, _ACCOUNTS))
        await self.store.execute(_SQL["fill_review_workers"], min(events, _WORKERS))
        subjects = [subject(number) for number in range(_SUBJECTS)]
        keys = [key(each, self.secret_key) for each in subjects]
        for first in range(1, events + 1, _A_STATEMENT):
            last = min(first + _A_STATEMENT - 1, events)
            shape = (first, last, events, TEXT_DAYS, ADDRESS_DAYS, subjects, keys, self.moderator)
            await self.store.execute(_SQL["fill_review_events"], *shape)
        await self.store.execute(_SQL["fill_review_unmarked"])
        newest: int = await self.store.fetchval(_SQL["newest_event"])
        logs = (max(events // _LOGGED, 1), self.moderator, SUSPICION_DAYS, newest)
        await self.store.execute(_SQL["fill_review_logs"], *logs)
        await self.settle()
        return newest

    async def fall_behind(self, rows: int) -> None:
        """So many rows past the window of each step of retention, in one transaction."""
        await self.store.execute(_SQL["fill_review_backlog"], rows, TEXT_DAYS, ADDRESS_DAYS, SUSPICION_DAYS)

    async def settle(self) -> None:
        """Statistics and visibility as autovacuum leaves them."""
        await self.store.execute(_SQL["settle_review"])


def subject(number: int) -> str:
    """An address of the benchmark; small numbers have most events."""
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def key(of: str, secret_key: str) -> str:
    """Its pseudonym; one of its own where the system makes none."""
    return ip_subject_key(of, secret_key) or hashlib.sha256(of.encode()).hexdigest()
