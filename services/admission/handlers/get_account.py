"""GetAccount: an account, as much of it as the caller may see."""

from datetime import timedelta

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import whose_key
from services.admission.rules.accounts import Privilege, Shown, privilege_of


async def get_account(api_key: str, account_id: int | None, deps: Deps) -> Shown:
    """The account of an id, or without one that of the key. Raises Refusal(InvalidAPIKey, UserNotFound)."""
    viewer = await whose_key(api_key, deps) if api_key else None
    wanted = viewer.id if account_id is None and viewer is not None else account_id
    online = timedelta(seconds=deps.settings.worker_online_seconds)
    found = [] if wanted is None else await accounts_repo.describe(deps.store, [wanted], online=online)
    if not found:
        raise Refusal(reasons.USER_NOT_FOUND, f"There is no account {wanted}.")
    account = found[0]
    privilege = privilege_of(viewer, account.id)
    if account_id is None and viewer is not None and viewer.sharedkey_id is None:
        # Whoever asks for the account of their own key sees what its holder sees, moderator or not.
        privilege = Privilege.PUBLIC if account.anonymous else Privilege.SELF
    is_told = privilege > Privilege.PUBLIC and not account.anonymous
    active = await accounts_repo.active_requests(deps.store, account.id) if is_told else ()
    name = None if viewer is None or viewer.sharedkey_id is None else viewer.sharedkey_name or ""
    return Shown(account, privilege, active, name if account_id is None else None)
