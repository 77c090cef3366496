"""CreateWorkerMessage: an owner tells its worker something, or a moderator any worker or all of them."""

import uuid
from datetime import timedelta

from services.dispatch import board, looking
from services.dispatch.deps import Deps
from services.dispatch.repo import messages as repo
from services.dispatch.rules import messages as rules
from services.dispatch.rules.messages import Message, MessageAsk


async def create_worker_message(api_key: str, sent: MessageAsk, deps: Deps) -> Message:
    """The message as it is stored. Raises Refusal as the proto says; then nothing was written."""
    ask = rules.read_ask(sent)
    viewer = await looking.viewer_of(api_key, deps)
    rules.refuse_anonymous(viewer)
    worker = None if ask.worker_id is None else await looking.worker_now(ask.worker_id, deps)
    rules.refuse_writing(viewer, None if worker is None else worker.owner_id)
    now = deps.clock.now()
    message = Message(
        id=uuid.uuid4(),
        worker_id=None if worker is None else worker.id,
        author_id=viewer.id,
        text=ask.text,
        origin=ask.origin or viewer.alias,
        expiry=now + timedelta(hours=ask.expiry_hours),
    )
    if not await repo.create(deps.store, message, now):
        raise looking.not_found(str(message.worker_id))
    board.changed(deps)
    return message
