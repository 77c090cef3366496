"""ListCompiledFilters: the filters as they are in force."""

from services.moderation import looking
from services.moderation.deps import Deps
from services.moderation.rules.screening import USED_TYPES


async def list_compiled_filters(api_key: str, kind: int | None, deps: Deps) -> dict[int, str]:
    """The joined pattern of each type in use; empty: it has no filter. Raises Refusal(InvalidAPIKey, NotModerator)."""
    await looking.moderator_of(api_key, deps)
    known = await deps.filters.get()
    return {used: known.joined(used) for used in USED_TYPES if kind in {None, used}}
