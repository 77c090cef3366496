"""DeleteAccount: first an account is marked, and after it rested nothing of a person is left in it."""

from datetime import timedelta

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.account_changes import permit_deletion
from services.admission.rules.accounts import Role


async def delete_account(api_key: str, account_id: int, deps: Deps) -> bool:
    """Whether it was wiped; else it is marked now.

    Raises Refusal: InvalidAPIKey, AnonForbiddenUserMod, UserNotFound, NotUserOrMod, CannotDeleteMod,
    CannotWipeActiveUser.
    """
    caller = await personal_key(api_key, deps)
    async with deps.store.transaction() as tx:
        last_active = await accounts_repo.lock(tx, account_id)
        online = timedelta(seconds=deps.settings.worker_online_seconds)
        found = [] if last_active is None else await accounts_repo.describe(tx, [account_id], online=online)
        if last_active is None or not found:
            raise Refusal(reasons.USER_NOT_FOUND, f"There is no account {account_id}.")
        if found[0].anonymous:
            raise Refusal(reasons.ANON_FORBIDDEN_USER_MOD, "The anonymous account cannot be deleted.")
        is_wiped = permit_deletion(
            caller,
            account_id,
            is_moderator=Role.MODERATOR in found[0].roles,
            is_deleted=Role.DELETED in found[0].roles,
            last_active=last_active,
            now=deps.clock.now(),
        )
        if is_wiped:
            await accounts_repo.wipe(tx, account_id)
        else:
            await accounts_repo.set_role(tx, account_id, Role.DELETED, held=True)
    deps.events.account_deleted(account_id, by=caller.id, wiped=is_wiped)
    return is_wiped
