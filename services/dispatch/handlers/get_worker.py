"""GetWorker: one worker, online or not."""

from datetime import timedelta

from services.dispatch import board, looking
from services.dispatch.deps import Deps
from services.dispatch.repo.outcomes import as_id
from services.dispatch.rules.worker_details import View, view


async def get_worker(api_key: str, wanted: str, deps: Deps, *, by_name: bool) -> View:
    """By its id, or by its name exactly. Raises Refusal: InvalidAPIKey, WorkerNotFound."""
    moderator = await looking.is_moderator(api_key, deps)
    which = wanted if by_name else as_id(wanted)
    # no text of Postgres holds a NUL, so no worker has such a name
    worker = None if which is None or "\0" in wanted else await looking.worker_lately(which, deps)
    if worker is None:
        raise looking.not_found(wanted)
    online = deps.clock.now() - timedelta(seconds=deps.settings.worker_online_seconds)
    return view(worker, await board.messages_for(worker.id, deps), online_since=online, moderator=moderator)
