"""GetWorkerMessage: one message, for whoever knows its id."""

from services.dispatch.deps import Deps
from services.dispatch.repo import messages as repo
from services.dispatch.repo.outcomes import as_id
from services.dispatch.rules import messages as rules
from services.dispatch.rules.messages import Message


async def get_worker_message(message_id: str, deps: Deps) -> Message:
    """Expired or not. Raises Refusal(WorkermessageNotFound)."""
    wanted = as_id(message_id)
    message = None if wanted is None else await repo.read(deps.store, wanted)
    if message is None:
        raise rules.not_found(message_id)
    return message
