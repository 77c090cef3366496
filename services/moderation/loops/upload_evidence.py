"""Moves texts of events out of their rows into the evidence store, and looks how things stand.

One replica leads at a time. A lock that is lost with its connection does no harm: whoever comes second finds the row
stored, and leaves its object alone.
"""

from horde.clock import Clock
from horde.store import Store
from services.moderation import evidence_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_repo import PendingText, PutText
from services.moderation.evidence_store import EvidenceStore, EvidenceUnavailable
from services.moderation.retention_repo import leading
from services.moderation.rules.evidence import canonical_text, digest

BATCH = 50
MAX_CYCLES = 10
_REASONS = ("filter_rejection", "model_rejection", "worker_csam")
_RECENT_MINUTES = 5


async def upload_evidence(store: Store, evidence: EvidenceStore, events: EvidenceEvents, clock: Clock) -> None:
    """One tick: up to ten batches of fifty. Raises StoreUnavailable. Without an evidence store it only looks."""
    async with leading(store, "upload_evidence") as is_leader:
        if not is_leader:
            return
        await _observe(store, events, clock)
        after = 0
        for _ in range(MAX_CYCLES if evidence.is_configured else 0):
            batch = await repo.pending(store, BATCH, after=after)
            if not await _move(batch, store, evidence, events) or len(batch) < BATCH:
                return
            after = batch[-1].id


async def _move(batch: list[PendingText], store: Store, evidence: EvidenceStore, events: EvidenceEvents) -> bool:
    """Puts the objects one by one, then takes the texts out of the rows; False when a put failed: the tick ends."""
    put: list[PutText] = []
    failed = False
    for text in batch:
        stages = (text.submitted_prompt, text.moderation_prompt, text.effective_prompt)
        sha256, characters = digest(*stages)
        try:
            await evidence.put(text.id, canonical_text(*stages))
        except EvidenceUnavailable as away:
            events.upload_failed(away)
            failed = True
            break
        put.append(PutText(text.id, text.version, sha256 or "", characters or 0))
    if put:
        stored = await repo.store_texts(store, put)
        events.uploaded(len(stored))
        await _remove_cleared([text.id for text in put if text.id not in stored], store, evidence, events)
    return not failed


async def _remove_cleared(missed: list[int], store: Store, evidence: EvidenceStore, events: EvidenceEvents) -> None:
    """Deletes the objects of events whose rows retention was at meanwhile, and of none that another replica stored.

    A row that still has its text is uploaded again by the next tick.
    """
    if not missed:
        return
    states = await repo.text_states(store, missed)
    cleared = [event for event in missed if states.get(event) != "stored"]
    try:
        left = await evidence.delete(cleared) if cleared else set()
    except EvidenceUnavailable as away:
        events.store_away(away)  # the sweep finds them
        return
    if left:
        events.not_deleted(len(left))


async def _observe(store: Store, events: EvidenceEvents, clock: Clock) -> None:
    now = await repo.standing(store)
    events.observed(pending=now.pending, oldest=now.oldest, subjects=now.subjects, now=clock.now().timestamp())
    events.rejections({reason: now.recent.get(reason, 0) / _RECENT_MINUTES for reason in _REASONS})
    events.table_rows(now.table_rows)
