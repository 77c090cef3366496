"""GetFilter: one filter as it is stored."""

from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.rules import filters as rules
from services.moderation.rules.filters import Filter


async def get_filter(api_key: str, wanted: str, deps: Deps) -> Filter:
    """The filter. Raises Refusal(InvalidAPIKey, NotModerator, FilterNotFound)."""
    await looking.moderator_of(api_key, deps)
    found = await repo.read_filter(deps.store, rules.filter_id(wanted))
    if found is None:
        raise rules.not_found(wanted)
    return found
