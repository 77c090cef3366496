"""CreateSharedKey: an owner lends a key."""

from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.shared_keys import KeyChange, KnownKey, no_such_key, permit_key


async def create_shared_key(api_key: str, wanted: KeyChange, deps: Deps) -> KnownKey:
    """The key. Raises Refusal(InvalidAPIKey, AnonForbidden, Forbidden)."""
    owner = await personal_key(api_key, deps)
    async with deps.store.transaction() as tx:
        # The owner's row is held, so that two calls cannot both be the last one allowed.
        await accounts_repo.lock(tx, owner.id)
        permit_key(owner, await accounts_repo.count_keys(tx, owner.id))
        made = await accounts_repo.create_key(tx, owner.id, wanted, deps.clock.now())
        key = await accounts_repo.read_key(tx, made)
    if key is None:
        raise no_such_key()
    return key
