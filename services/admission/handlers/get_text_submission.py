"""GetTextSubmission: what was submitted as a text request, for who submitted it."""

from horde.contract.api_keys import hash_api_key
from services.admission import repo
from services.admission.deps import Deps
from services.admission.rules import entry, reading_back


async def get_text_submission(api_key: str, request_id: str, deps: Deps) -> bytes:
    """JSON in the shape of a submit.

    Raises Refusal: InvalidAPIKey, AnonForbidden, RequestNotFound (also for a chat request), NotRequestOwner.
    """
    kept = await repo.read_text_submission(
        deps.store,
        key_hash=hash_api_key(deps.settings.secret_key, api_key),
        sharedkey=entry.worker_id(api_key),
        request=entry.worker_id(request_id),
    )
    return reading_back.permitted(kept)
