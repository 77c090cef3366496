"""The ledger is proved while it is used: what `horde admin ledger check` proves at once, account by account.

A look at an account goes on from where its last one ended, so an hour's proof costs what the hour posted. Before a
finding is told, the account is looked at again from its first posting. Two replicas may prove at the same time: each
look sees one moment, and of two kept proofs the one that reaches farther stays.
"""

from datetime import timedelta

from horde.store import Store
from services.admission import ledger_repo
from services.admission.money_events import MoneyEvents
from services.admission.rules.ledger import Findings, Look

EVERY = timedelta(hours=1)

_ACCOUNTS = 100
_POSTINGS = 5_000
"""Most accounts of one statement, and most postings of each: at worst it takes a few seconds."""

_STATEMENTS = 10_000
"""Most statements of one run: a million accounts. The next run goes on where this one stopped."""

_MARGIN = timedelta(minutes=10)
"""No transaction lasts so long: what is older is complete."""

_FIRST = -1
"""The anonymous account has the number 0."""


class LedgerProof:
    """The loop's body. Remembers how far it came, and what was wrong where it looked last."""

    def __init__(
        self, store: Store, events: MoneyEvents, *, postings: int = _POSTINGS, statements: int = _STATEMENTS
    ) -> None:
        self._store = store
        self._events = events
        self._postings = postings
        self._statements = statements
        self._after = _FIRST
        self._closely = False
        self._from_first = False
        self._found: Findings = {}
        self._unsound: dict[int, Findings] = {}

    async def run(self) -> None:
        """Looks at every account, or at as many as one run may. Raises StoreUnavailable."""
        for _ in range(self._statements):
            if not await self._look():
                break
        self._events.ledger_proved(self._unsound.values())

    async def _look(self) -> bool:
        """One statement's accounts, up to the first that needs another look; False when there are none left."""
        looks = await ledger_repo.look(
            self._store,
            self._after,
            accounts=1 if self._closely else _ACCOUNTS,
            postings=self._postings,
            margin=_MARGIN,
        )
        self._closely = False
        proved: list[Look] = []
        for one in looks:
            found = one.findings()
            if found and one.goes_on and not self._from_first:
                await ledger_repo.forget(self._store, one.id)
                self._closely = self._from_first = True
                break
            self._found |= found
            if not one.is_whole:
                proved.append(one)
                self._closely = True
                break
            if not await self._conclude(one) and one.settled:
                proved.append(one)
        if proved:
            await ledger_repo.keep(self._store, proved)
        if not looks:
            self._after = _FIRST
        return bool(looks)

    async def _conclude(self, seen: Look) -> Findings:
        """An account was seen whole: what is wrong with it. The next look at an unsound one sees all of it again."""
        found = self._found
        if found:
            await ledger_repo.forget(self._store, seen.id)
            self._unsound[seen.id] = found
            self._events.ledger_unsound(seen.id, found)
        else:
            self._unsound.pop(seen.id, None)
        self._after, self._from_first, self._found = seen.id, False, {}
        return found
