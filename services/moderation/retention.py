"""One tick of retention: passes of seven steps, each a transaction of its own, until nothing is left to catch up with.

The two steps that clear texts delete the objects first, while they hold the locks of their rows, and flag only rows
whose object is gone: a crash in between leaves a row that the next tick does again. This is the one place where an
object store is asked inside a transaction (docs/adr/0014).
"""

from horde.contract.retention import RetentionPolicy
from horde.store import Store
from services.moderation import retention_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceStore, EvidenceUnavailable
from services.moderation.rules.fates import Step

BATCH = 1000
"""Rows that one step changes at most in one pass: it bounds how long rows stay locked, and how much is read again for
nothing where the oldest rows are held."""

MAX_PASSES = 20
"""Passes of one tick: at a tick a minute a step can drain 20,000 rows a minute."""

_WITH_OBJECTS = frozenset({Step.CEILING, Step.TEXT})


class Tick:
    """One tick. What the evidence store would not delete is passed over until the next."""

    def __init__(self, store: Store, evidence: EvidenceStore, policy: RetentionPolicy, events: EvidenceEvents) -> None:
        self._store = store
        self._evidence = evidence
        self._policy = policy
        self._events = events
        self._kept_by_store: set[int] = set()
        self._store_answers = evidence.is_configured

    @property
    def leaves_objects(self) -> bool:
        """Whether stored texts that are due had to be left, so far."""
        return bool(self._kept_by_store) or not self._store_answers

    async def run(self) -> None:
        """Passes until no step had a full batch, at most 20. Raises StoreUnavailable; the next tick goes on."""
        for _ in range(MAX_PASSES):
            is_full = [await self._step(step) for step in Step]
            self._events.passed_once()
            if not any(is_full):
                return
        self._events.saturated()

    async def _step(self, step: Step) -> bool:
        """One step; whether there was a full batch for it to look at."""
        days = repo.window_of(step, self._policy)
        if days is None:
            return False
        if step in _WITH_OBJECTS:
            picked, changed = await self._clear_texts(step, days)
        else:
            async with self._store.transaction() as tx:
                ids = await repo.pick(tx, step, days, BATCH)
                picked, changed = len(ids), len(await repo.change(tx, step, days, ids))
        self._events.retained(step, changed)
        return picked >= BATCH

    async def _clear_texts(self, step: Step, days: int) -> tuple[int, int]:
        async with self._store.transaction() as tx:
            ids = await repo.pick_texts(
                tx, step, days, BATCH, also_stored=self._store_answers, passed_over=self._kept_by_store
            )
            looked_at, gone = len(ids), set[int]()
            if ids and self._store_answers:
                gone = await self._delete(ids)
                if len(gone) < len(ids):
                    # Else the oldest rows, undeletable now, would keep all others waiting.
                    passed_over = self._kept_by_store | gone
                    room = BATCH - len(gone)
                    ids = await repo.pick_texts(tx, step, days, room, also_stored=False, passed_over=passed_over)
                    ids += gone
            done = await repo.change(tx, step, days, ids)
            # An account may have been restricted since the look: then its event is held, but its object is gone.
            left = gone.difference(done)
            told = await repo.tell_texts_gone(tx, left)
            await repo.upload_anew(tx, left.difference(told))
            if step is Step.CEILING:
                await repo.clear_marks(tx, done)
        self._events.retained(Step.TEXT, len(told))
        return looked_at, len(done)

    async def _delete(self, ids: list[int]) -> set[int]:
        """The events whose objects are gone now. What the store keeps is passed over until the next tick."""
        try:
            failed = await self._evidence.delete(ids)
        except EvidenceUnavailable as away:
            self._events.store_away(away)
            self._store_answers = False
            return set()
        self._kept_by_store |= failed
        return set(ids) - failed
