"""ReadPosted: what a cancel is settled on."""

from collections.abc import Sequence

from services.progress.deps import Deps
from services.progress.rules.feed import Posted


async def read_posted(request_id: str, generation_ids: Sequence[str], deps: Deps) -> list[Posted]:
    """What each generation posted so far. Raises LiveUnavailable."""
    return await deps.leases.posted(request_id, generation_ids)
