"""UpdateSharedKey: an owner changes a key that is lent."""

from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.entry import worker_id
from services.admission.rules.shared_keys import (
    KeyChange,
    KnownKey,
    no_such_key,
    permit_change,
    permit_owner,
    refuse_anonymous,
)


async def update_shared_key(api_key: str, key_id: str, change: KeyChange, deps: Deps) -> KnownKey:
    """The key as it is then. Raises Refusal(InvalidAPIKey, AnonForbidden, Forbidden, NoSharedKeyModSelected)."""
    caller = await personal_key(api_key, deps)
    refuse_anonymous(caller)
    wanted = worker_id(key_id)
    key = None if wanted is None else await accounts_repo.read_key(deps.store, wanted)
    if key is None:
        raise no_such_key()
    permit_owner(caller, key)
    permit_change(change)
    async with deps.store.transaction() as tx:
        await accounts_repo.update_key(tx, key.id, change, deps.clock.now())
        after = await accounts_repo.read_key(tx, key.id)
    if after is None:
        raise no_such_key()
    return after
