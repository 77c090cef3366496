"""FindAccount: whose key this is."""

from dataclasses import replace

from horde.contract.api_keys import hash_api_key
from services.admission import repo
from services.admission.deps import Deps
from services.admission.rules.facts import FoundAccount


async def find_account(api_key: str, deps: Deps) -> FoundAccount:
    """The account of a personal key; administrators may do what moderators may. Raises Refusal(InvalidAPIKey)."""
    row = await repo.find_account(deps.store, hash_api_key(deps.settings.secret_key, api_key))
    found = FoundAccount(**dict(row))
    return replace(found, moderator=found.moderator or found.alias in deps.settings.admins)
