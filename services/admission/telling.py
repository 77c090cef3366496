"""Tells dispatch's waiting pops that a request waits: after its commit, and after the caller was answered.

Best effort: a request that nobody was told of is found by the next pop that comes.
"""

import asyncio
from uuid import UUID

from horde.failures import Outage
from horde.store import Store
from horde.telemetry import logs
from services.admission import repo

log = logs.get(__name__)

_MOST_DUE = 10_000
"""Requests that may wait to be told; more than a store that answers ever leaves."""


class Telling:
    """One statement at a time: what is queued meanwhile goes together with the next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: list[UUID] = []
        self._task: asyncio.Task[None] | None = None

    def tell(self, request: UUID) -> None:
        """Has it told soon. Never raises and never waits."""
        if len(self._due) < _MOST_DUE:
            self._due.append(request)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_telling(), name="tell waiting pops")

    async def drain(self, within: float) -> None:
        """Returns when all is told, or after `within` seconds."""
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=within)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_telling(self) -> None:
        while self._due:
            due, self._due = self._due, []
            try:
                await repo.tell_waiting(self._store, due)
            except Outage as away:
                log.warning("waiting pops not told", requests=len(due), why=str(away))
            except Exception:
                log.exception("fault", what="tell waiting pops")
