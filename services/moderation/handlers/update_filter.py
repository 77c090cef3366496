"""UpdateFilter: a moderator changes a filter."""

import asyncio

from horde.store import UniqueViolation
from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.patterns import BrokenPattern, compiled_pattern
from services.moderation.rules import filters as rules
from services.moderation.rules.filters import Filter, FilterChange


async def update_filter(api_key: str, wanted: str, change: FilterChange, deps: Deps) -> Filter:
    """The filter as it is now. Raises Refusal as the proto says; then the filter is as it was."""
    operator = await looking.moderator_of(api_key, deps)
    filter_id = rules.filter_id(wanted)
    rules.refuse_empty(change)
    if change.regex is not None:
        try:
            await asyncio.to_thread(compiled_pattern, change.regex)
        except BrokenPattern as broken:
            raise rules.uncompilable(str(broken)) from None
    try:
        changed = await repo.update_filter(deps.store, filter_id, change)
    except UniqueViolation:
        raise rules.taken() from None
    if changed is None:
        raise rules.not_found(wanted)
    deps.events.decided("filter changed", operator.id, filter_id=changed.id, filter_type=changed.kind)
    await deps.reread_filters()
    return changed
