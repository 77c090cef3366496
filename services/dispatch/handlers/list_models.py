"""ListModels: what the workers that are online serve, and what waits for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import fleet as repo
from services.dispatch.rules.fleet import ChatOffer, ModelStatus
from services.dispatch.sums import summed

_PERFORMANCE = timedelta(hours=1)
"""How far back a model's mean speed reaches. base-domain 9."""


async def list_models(deps: Deps, *, chat: bool) -> Sequence[ModelStatus]:
    """Every model served or waited for; with `chat` only those that an online chat worker serves, with its offer."""
    models = await summed("models", lambda: _models(deps), deps)
    if not chat:
        return models
    offers = await summed("chat offers", lambda: _offers(deps), deps)
    return [replace(model, chat=offers[model.name]) for model in models if model.name in offers]


async def _models(deps: Deps) -> Sequence[ModelStatus]:
    now = deps.clock.now()
    online = now - timedelta(seconds=deps.settings.worker_online_seconds)
    return await repo.list_models(deps.store, online, now - _PERFORMANCE, reference=deps.reference.current)


async def _offers(deps: Deps) -> Mapping[str, ChatOffer]:
    online = deps.clock.now() - timedelta(seconds=deps.settings.worker_online_seconds)
    return await repo.chat_offers(deps.store, online)
