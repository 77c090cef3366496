"""ListPromotions: who is about to be trusted, and who would be, were it not for suspicions."""

from datetime import timedelta

from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.rules.accounts import Promotions


async def list_promotions(limit: int, deps: Deps) -> Promotions:
    """At most `limit` of each, the most kudos in escrow first. Raises StoreUnavailable."""
    threshold = deps.settings.trust_threshold
    if threshold is None:
        return Promotions(None, [], [])
    online = timedelta(seconds=deps.settings.worker_online_seconds)
    blocked, eligible = [
        await accounts_repo.promotions(deps.store, threshold, blocked=is_blocked, rows=limit, online=online)
        for is_blocked in (True, False)
    ]
    return Promotions(threshold, blocked, eligible)
