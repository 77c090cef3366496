"""CreateFilter: a moderator writes a filter."""

import asyncio

from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.patterns import BrokenPattern, compiled_pattern
from services.moderation.rules import filters as rules
from services.moderation.rules.filters import Filter, FilterDraft


async def create_filter(api_key: str, draft: FilterDraft, deps: Deps) -> Filter:
    """The filter, or the one that has this pattern and type already. Raises Refusal as the proto says."""
    operator = await looking.moderator_of(api_key, deps)
    try:
        await asyncio.to_thread(compiled_pattern, draft.regex)
    except BrokenPattern as broken:
        raise rules.uncompilable(str(broken)) from None
    made = await repo.insert_filter(deps.store, draft, operator.id)
    deps.events.decided("filter written", operator.id, filter_id=made.id, filter_type=made.kind)
    await deps.reread_filters()
    return made
