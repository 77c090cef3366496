"""GetPolicy: what lets admission clear a prompt without asking."""

from services.moderation.deps import Deps


async def get_policy(deps: Deps) -> bool:
    """Whether any filter exists, at most a second old. Raises StoreUnavailable."""
    return await deps.has_filters.get()
