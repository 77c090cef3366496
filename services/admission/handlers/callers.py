"""Whose key was sent, as every handler of accounts asks."""

from dataclasses import replace

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.rules.accounts import KeyHolder
from services.admission.rules.entry import worker_id


async def whose_key(api_key: str, deps: Deps) -> KeyHolder:
    """The holder. Raises Refusal(InvalidAPIKey) and StoreUnavailable."""
    key_hash = hash_api_key(deps.settings.secret_key, api_key)
    holder = await accounts_repo.read_caller(deps.store, key_hash, worker_id(api_key))
    if holder is None:
        raise Refusal(reasons.INVALID_API_KEY, "No user matches this API key.")
    return replace(holder, admin=holder.sharedkey_id is None and holder.alias in deps.settings.admins)


async def personal_key(api_key: str, deps: Deps) -> KeyHolder:
    """The holder of a personal key: a shared key is not enough for what follows. Raises Refusal(InvalidAPIKey)."""
    holder = await whose_key(api_key, deps)
    if holder.sharedkey_id is not None:
        raise Refusal(reasons.INVALID_API_KEY, "A shared key cannot be used for this.")
    return holder
