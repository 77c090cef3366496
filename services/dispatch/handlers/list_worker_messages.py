"""ListWorkerMessages: what workers are and were told, for who may see it."""

from collections.abc import Sequence

from services.dispatch import looking
from services.dispatch.deps import Deps
from services.dispatch.repo import messages as repo
from services.dispatch.rules import messages as rules
from services.dispatch.rules.messages import Message, MessageQuery


async def list_worker_messages(api_key: str, query: MessageQuery, deps: Deps) -> Sequence[Message]:
    """One page, the newest first. Raises Refusal: InvalidAPIKey, AnonForbidden, WorkerNotFound, Forbidden."""
    viewer = await looking.viewer_of(api_key, deps)
    rules.refuse_anonymous(viewer)
    worker = None if query.worker_id is None else await looking.worker_now(query.worker_id, deps)
    rules.refuse_looking(viewer, query, None if worker is None else worker.owner_id)
    return await repo.listed(
        deps.store,
        seen_by=None if viewer.moderator else viewer.id,
        author=query.author_id,
        worker=None if worker is None else worker.id,
        validity=query.validity,
        now=deps.clock.now(),
        page=query.page,
    )
