"""ListFilters: the filters as they are stored."""

from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.rules.filters import Filter


async def list_filters(api_key: str, kind: int | None, contains: str, deps: Deps) -> list[Filter]:
    """The filters of a type whose pattern or description holds a text. Raises Refusal(InvalidAPIKey, NotModerator)."""
    await looking.moderator_of(api_key, deps)
    return await repo.list_filters(deps.store, kind, contains)
