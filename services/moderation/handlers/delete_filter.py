"""DeleteFilter: a moderator removes a filter."""

from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.rules import filters as rules


async def delete_filter(api_key: str, wanted: str, deps: Deps) -> None:
    """Raises Refusal(InvalidAPIKey, NotModerator, FilterNotFound)."""
    operator = await looking.moderator_of(api_key, deps)
    filter_id = rules.filter_id(wanted)
    if not await repo.delete_filter(deps.store, filter_id):
        raise rules.not_found(wanted)
    deps.events.decided("filter deleted", operator.id, filter_id=filter_id)
    await deps.reread_filters()
