"""ListModels: what the workers that are online serve, and what waits for it."""

from collections.abc import Sequence
from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import fleet as repo
from services.dispatch.rules.fleet import ModelStatus

_PERFORMANCE = timedelta(hours=1)
"""How far back a model's mean speed reaches. base-domain 9."""


async def list_models(deps: Deps, *, chat: bool) -> Sequence[ModelStatus]:
    """Every model served or waited for; with `chat` only those that an online chat worker serves, with its offer."""
    now = deps.clock.now()
    online = now - timedelta(seconds=deps.settings.worker_online_seconds)
    offers = await repo.chat_offers(deps.store, online) if chat else {}
    found = await repo.list_models(
        deps.store, online, now - _PERFORMANCE, offers=offers, reference=deps.reference.current
    )
    return [status for status in found if status.chat is not None] if chat else found
