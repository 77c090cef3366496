"""GetTextStatistics: what was made by period, in all and by model. base-domain 9."""

from services.dispatch.deps import Deps
from services.dispatch.repo import fleet as repo
from services.dispatch.rules.fleet import TextStatistics
from services.dispatch.sums import summed


async def get_text_statistics(deps: Deps) -> TextStatistics:
    """Replies that were stored; a token counts as asked for."""
    return await summed("text statistics", lambda: repo.text_statistics(deps.store, deps.clock.now()), deps)
