"""Who looks at workers, and the workers looked at: the latter from a short memory."""

from uuid import UUID

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from services.dispatch.deps import Deps
from services.dispatch.repo import worker_details as repo
from services.dispatch.repo.outcomes import as_id
from services.dispatch.rules.viewers import Viewer
from services.dispatch.rules.worker_details import WorkerDetails


async def viewer_of(api_key: str, deps: Deps) -> Viewer:
    """Whose key this is. Raises Refusal(InvalidAPIKey)."""
    viewer = await repo.read_viewer(deps.store, hash_api_key(deps.settings.secret_key, api_key))
    if viewer is None:
        raise Refusal(reasons.INVALID_API_KEY, "No account has this API key.")
    return viewer


async def is_moderator(api_key: str, deps: Deps) -> bool:
    """Whether a moderator asks; nobody does without a key. Raises Refusal(InvalidAPIKey)."""
    return bool(api_key) and (await viewer_of(api_key, deps)).moderator


async def worker_now(worker_id: str, deps: Deps) -> WorkerDetails:
    """A worker as it is this moment. Raises Refusal(WorkerNotFound)."""
    wanted = as_id(worker_id)
    found = None if wanted is None else await repo.read(deps.store, wanted)
    if found is None:
        raise not_found(worker_id)
    return found


async def worker_lately(wanted: UUID | str, deps: Deps) -> WorkerDetails | None:
    """A worker by its id or name as it was at most HORDE_WORKER_DETAILS_CACHE_SECONDS ago; None when there is none."""
    key = _key(wanted)
    known = deps.memory.get(key, now=deps.clock.monotonic())
    if isinstance(known, WorkerDetails):
        return known
    changes = deps.memory.changes
    found = await deps.memory.ask_once(key, lambda: repo.read(deps.store, wanted))
    if found is not None:
        seconds = deps.settings.worker_details_cache_seconds
        deps.memory.put(key, found, seconds, now=deps.clock.monotonic(), changes=changes)
    return found


def forget(worker: WorkerDetails, deps: Deps) -> None:
    """A worker was changed: this process tells it anew. Other replicas do when their memory ends."""
    for key in (_key(worker.id), _key(worker.name)):
        deps.memory.forget(key)


def not_found(wanted: str) -> Refusal:
    """The refusal for a worker that does not exist."""
    return Refusal(reasons.WORKER_NOT_FOUND, f"Worker '{wanted[:100]}' not found.")


def _key(wanted: UUID | str) -> tuple[str, UUID | str]:
    return "worker", wanted
