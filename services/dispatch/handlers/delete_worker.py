"""DeleteWorker: an owner or a moderator removes a worker that no stored job references."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch import looking
from services.dispatch.deps import Deps
from services.dispatch.repo import worker_details as repo
from services.dispatch.rules import worker_changes as rules
from services.dispatch.rules.worker_details import WorkerDetails


async def delete_worker(api_key: str, worker_id: str, deps: Deps) -> WorkerDetails:
    """The worker as it was. Raises Refusal: InvalidAPIKey, AnonForbidden, WorkerNotFound, NotModerator, Locked."""
    viewer = await looking.viewer_of(api_key, deps)
    rules.refuse_anonymous(viewer)
    worker = await looking.worker_now(worker_id, deps)
    rules.refuse_stranger(viewer, worker, reasons.NOT_MODERATOR)
    async with deps.store.transaction() as unit:
        # first, so that no pop hands it a job between the look and the delete
        if not await repo.lock(unit, worker.id):
            raise looking.not_found(worker_id)
        if await repo.has_jobs(unit, worker.id):
            raise Refusal(
                reasons.LOCKED, "A stored job still references this worker; try again when its requests have expired."
            )
        await repo.delete(unit, worker.id)
    looking.forget(worker, deps)
    return worker
