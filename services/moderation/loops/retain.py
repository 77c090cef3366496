"""Retention's tick and its proof. One replica leads at a time."""

from datetime import timedelta

from horde.clock import Clock
from horde.contract.retention import RetentionPolicy
from horde.store import Store
from services.moderation import retention_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceStore
from services.moderation.retention import Tick
from services.moderation.rules import fates

_GRACE = timedelta(hours=1)
"""How late a value may leave before the proof says so: sixty ticks."""

_TELL_AGAIN_SECONDS = 3600.0


class Retain:
    """The loop's body. Remembers when it last said that nothing can be deleted, for want of a store."""

    def __init__(
        self,
        store: Store,
        evidence: EvidenceStore,
        policy: RetentionPolicy,
        events: EvidenceEvents,
        clock: Clock,
    ) -> None:
        self._store = store
        self._evidence = evidence
        self._policy = policy
        self._events = events
        self._clock = clock
        self._told_at: float | None = None

    async def tick(self) -> None:
        """Everything that is due now, as far as twenty passes reach. Raises StoreUnavailable."""
        async with repo.leading(self._store, "retain") as is_leader:
            if not is_leader:
                return
            tick = Tick(self._store, self._evidence, self._policy, self._events)
            await tick.run()
            waiting = await repo.waiting_for_store(self._store, self._policy) if tick.leaves_objects else 0
            self._events.waiting(waiting, tell=waiting > 0 and self._may_tell())
            self._events.held(await repo.held(self._store, self._policy))
            self._events.overdue(await repo.overdue(self._store, self._policy))
            columns, _ = await repo.shape(self._store)
            self._events.unmapped(len(fates.unmapped(columns)))

    async def prove(self) -> None:
        """Counts what outlived its window, by a statement that knows nothing of the passes. Raises StoreUnavailable."""
        async with repo.leading(self._store, "prove_retention") as is_leader:
            if is_leader:
                self._events.proved(await repo.violations(self._store, self._policy, _GRACE))

    def _may_tell(self) -> bool:
        """Always while a store fails; once an hour while there is none to wait for."""
        now = self._clock.monotonic()
        if not self._evidence.is_configured and self._told_at is not None and now - self._told_at < _TELL_AGAIN_SECONDS:
            return False
        self._told_at = now
        return True
