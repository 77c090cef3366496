"""RecordWorkerSuspicion: append to the history of worker suspicions, and tell moderators of a worker that it paused."""

from services.moderation import reports_repo
from services.moderation.deps import Deps
from services.moderation.rules.suspicions import Suspicion, paused_notice


async def record_worker_suspicion(suspicion: Suspicion, deps: Deps) -> None:
    """One row, whatever becomes of worker and owner. A repeat changes nothing. Raises StoreUnavailable."""
    is_new = await reports_repo.add_suspicion(deps.store, suspicion)
    if is_new and suspicion.paused:
        owner = await reports_repo.account(deps.store, suspicion.owner_id)
        alias = owner.alias if owner is not None else f"account {suspicion.owner_id}"
        deps.keep_going(deps.paused_discord.tell(paused_notice(suspicion, alias)))
