"""DeleteWorkerMessage: who wrote a message, or a moderator, takes it back."""

from services.dispatch import board, looking
from services.dispatch.deps import Deps
from services.dispatch.handlers.get_worker_message import get_worker_message
from services.dispatch.repo import messages as repo
from services.dispatch.rules import messages as rules


async def delete_worker_message(api_key: str, message_id: str, deps: Deps) -> None:
    """Raises Refusal: InvalidAPIKey, AnonForbidden, WorkermessageNotFound, Forbidden."""
    viewer = await looking.viewer_of(api_key, deps)
    rules.refuse_anonymous(viewer)
    message = await get_worker_message(message_id, deps)
    rules.refuse_deleting(viewer, message)
    if not await repo.delete(deps.store, message.id):
        raise rules.not_found(message_id)
    board.changed(deps)
