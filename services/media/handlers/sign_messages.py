"""SignMessages: a download link to offloaded messages, made without asking the store."""

from horde.contract.chat.images import messages_key
from services.media.deps import Deps
from services.media.handlers.sign_images import LONGEST_SECONDS


async def sign_messages(request_id: str, valid_seconds: int, deps: Deps) -> str:
    """A link that is valid for `valid_seconds`, at least one and at most a week's."""
    valid = max(1, min(valid_seconds, LONGEST_SECONDS))
    (url,) = await deps.blobs.sign([messages_key(request_id)], valid_seconds=valid)
    deps.events.messages("signed", 0)
    return url
