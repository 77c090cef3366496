"""UpdateWorker: an owner or a moderator changes a worker."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.store import UniqueViolation
from services.dispatch import looking
from services.dispatch.deps import Deps
from services.dispatch.repo import worker_details as repo
from services.dispatch.rules import worker_changes as rules
from services.dispatch.rules.worker_changes import Change


async def update_worker(api_key: str, worker_id: str, asked: Change, deps: Deps) -> Change:
    """What was changed, as it is stored. Raises Refusal as the proto says; then nothing was written."""
    change = rules.read_change(asked)
    viewer = await looking.viewer_of(api_key, deps)
    rules.refuse_anonymous(viewer)
    worker = await looking.worker_now(worker_id, deps)
    rules.refuse_change(viewer, worker, change)
    try:
        is_there = await repo.update(deps.store, worker.id, change)
    except UniqueViolation:
        raise Refusal(
            reasons.WORKER_NAME_ALREADY_EXISTS, f"Another worker is named '{change.name}'; names are unique."
        ) from None
    if not is_there:
        raise looking.not_found(worker_id)
    looking.forget(worker, deps)
    return change
