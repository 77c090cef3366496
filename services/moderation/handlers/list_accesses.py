"""ListAccesses: which moderator was given which texts."""

from collections.abc import Sequence

from services.moderation import review_repo
from services.moderation.deps import Deps
from services.moderation.rules import review
from services.moderation.rules.review import Access, AccessQuery


async def list_accesses(query: AccessQuery, deps: Deps) -> tuple[Sequence[Access], int | None]:
    """One page and its cursor. Raises StoreUnavailable."""
    found = await review_repo.accesses(deps.store, query)
    return review.cut(found, query.limit, [access.id for access in found])
