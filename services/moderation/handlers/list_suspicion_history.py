"""ListSuspicionHistory: what workers were suspected of, also those that are gone."""

from collections.abc import Sequence

from services.moderation import review_repo
from services.moderation.deps import Deps
from services.moderation.rules import review
from services.moderation.rules.review import HistoryQuery, SuspicionEvent


async def list_suspicion_history(query: HistoryQuery, deps: Deps) -> tuple[Sequence[SuspicionEvent], int | None]:
    """One page and its cursor. Raises StoreUnavailable."""
    found = await review_repo.suspicion_history(deps.store, query)
    return review.cut(found, query.limit, [event.id for event in found])
