"""DeleteSharedKey: an owner takes a lent key back, and what waits through it."""

from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.entry import worker_id
from services.admission.rules.shared_keys import no_such_key, permit_owner, refuse_anonymous


async def delete_shared_key(api_key: str, key_id: str, deps: Deps) -> None:
    """Raises Refusal(InvalidAPIKey, AnonForbidden, Forbidden)."""
    caller = await personal_key(api_key, deps)
    refuse_anonymous(caller)
    wanted = worker_id(key_id)
    key = None if wanted is None else await accounts_repo.read_key(deps.store, wanted)
    if key is None:
        raise no_such_key()
    permit_owner(caller, key)
    async with deps.store.transaction() as tx:
        await accounts_repo.delete_key(tx, key.id)
