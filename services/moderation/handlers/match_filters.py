"""MatchFilters: what the filters in force find in a text that a moderator tries."""

import asyncio

from services.moderation import looking
from services.moderation.deps import Deps
from services.moderation.rules.normalising import readings
from services.moderation.rules.screening import findings


async def match_filters(api_key: str, prompt: str, kind: int | None, deps: Deps) -> list[str]:
    """What each group finds first; their number is the suspicion. Raises Refusal(InvalidAPIKey, NotModerator)."""
    await looking.moderator_of(api_key, deps)
    filters = (await deps.filters.get()).timed(deps.settings.moderation_filter_seconds)
    return await asyncio.to_thread(lambda: findings(*readings(prompt), filters, kind))
