"""GetKudosFlow: how kudos moved in the last day, for the status page."""

from horde.store import Record
from services.admission import repo
from services.admission.deps import Deps


async def get_kudos_flow(deps: Deps) -> list[Record]:
    """One row for each of the last 24 hours, oldest first. Read afresh: the caller keeps it for a minute itself."""
    return await repo.kudos_flow(deps.store)
