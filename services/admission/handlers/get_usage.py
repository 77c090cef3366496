"""GetUsage: what an account's requests cost, by day, model and key."""

from datetime import timedelta

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.accounts import Usage
from services.admission.rules.entry import worker_id


async def get_usage(api_key: str, account_id: int, days: int, shared_key: str, deps: Deps) -> list[Usage]:
    """The newest day first, today included. Raises Refusal(InvalidAPIKey, UserNotFound, NotPrivileged)."""
    caller = await personal_key(api_key, deps)
    if not caller.moderates and (caller.id != account_id or caller.anonymous):
        raise Refusal(reasons.NOT_PRIVILEGED, "Only the account's holder or a moderator may see its usage.")
    if account_id not in await accounts_repo.parties(deps.store, account_id, None):
        raise Refusal(reasons.USER_NOT_FOUND, f"There is no account {account_id}.")
    first = deps.clock.now().date() - timedelta(days=days - 1)
    return await accounts_repo.usage(deps.store, account_id, first=first, sharedkey=worker_id(shared_key))
