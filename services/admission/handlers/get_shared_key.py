"""GetSharedKey: what anybody who has a shared key may know of it; its owner also sees what waits through it."""

from horde.contract.api_keys import hash_api_key
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.rules.entry import worker_id
from services.admission.rules.shared_keys import KeyLoad, KnownKey, no_such_key


async def get_shared_key(key_id: str, api_key: str, deps: Deps) -> tuple[KnownKey, KeyLoad | None]:
    """The key, and its outstanding work for its owner. Raises Refusal(InvalidAPIKey)."""
    wanted = worker_id(key_id)
    key = None if wanted is None else await accounts_repo.read_key(deps.store, wanted)
    if key is None:
        raise no_such_key()
    if not api_key:
        return key, None
    viewer = await accounts_repo.read_caller(
        deps.store, hash_api_key(deps.settings.secret_key, api_key), worker_id(api_key)
    )
    if viewer is None or viewer.id != key.user_id or viewer.sharedkey_id is not None:
        return key, None
    return key, await accounts_repo.key_load(deps.store, key.id)
