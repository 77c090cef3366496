"""Finds objects of the evidence store whose event has no text, and deletes them.

Such an object is left when retention cleared a row while its upload was under way and the process died before it could
delete what it had put. An object without any row is not ours to judge: it is only told.
"""

from horde.store import Store
from services.moderation import evidence_repo as repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceStore
from services.moderation.retention_repo import leading


async def sweep_orphans(store: Store, evidence: EvidenceStore, events: EvidenceEvents) -> None:
    """One look at every object. Raises StoreUnavailable and EvidenceUnavailable."""
    if not evidence.is_configured:
        return
    async with leading(store, "sweep_orphans") as is_leader:
        if not is_leader:
            return
        deleted = unknown = 0
        async for listed in evidence.listed():
            # The rows are read after the list: an object put later is not on it.
            states = await repo.text_states(store, listed)
            textless = {event for event in listed if states.get(event) == "none"}
            unknown += sum(event not in states for event in listed)
            deleted += len(textless) - len(await evidence.delete(textless)) if textless else 0
        events.orphans(deleted=deleted, unknown=unknown)
