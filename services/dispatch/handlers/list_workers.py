"""ListWorkers: the workers that are online. base-domain 4.12."""

from collections.abc import Sequence
from datetime import timedelta

from services.dispatch import board, looking
from services.dispatch.deps import Deps
from services.dispatch.repo import worker_details as repo
from services.dispatch.rules.worker_details import View, WorkerDetails, view

_LIST = "workers online"
"""Where the list is remembered, for as long as the model list."""


async def list_workers(api_key: str, name: str | None, deps: Deps) -> Sequence[View]:
    """All of them, or those of one name whatever its case. Raises Refusal(InvalidAPIKey)."""
    moderator = await looking.is_moderator(api_key, deps)
    online = deps.clock.now() - timedelta(seconds=deps.settings.worker_online_seconds)
    return [
        view(worker, await board.messages_for(worker.id, deps), online_since=online, moderator=moderator)
        for worker in await _online(deps)
        if name is None or worker.name.casefold() == name.casefold()
    ]


async def _online(deps: Deps) -> Sequence[WorkerDetails]:
    known = deps.memory.get(_LIST, now=deps.clock.monotonic())
    if isinstance(known, list):
        return known
    return await deps.memory.ask_once(_LIST, lambda: _listed(deps))


async def _listed(deps: Deps) -> Sequence[WorkerDetails]:
    online = deps.clock.now() - timedelta(seconds=deps.settings.worker_online_seconds)
    found = await repo.list_online(deps.store, online)
    deps.memory.put(_LIST, found, deps.settings.models_cache_seconds, now=deps.clock.monotonic())
    return found
