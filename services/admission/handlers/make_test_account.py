"""MakeTestAccount: an account for somebody's tests, always the same one for the same outside identity."""

import secrets
from datetime import timedelta

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.rules.accounts import AccountOfTest, Privilege, Role, Shown


async def make_test_account(wanted: AccountOfTest, deps: Deps) -> tuple[str, Shown, bool]:
    """The account's new key, the account, whether it is new. Raises Refusal(Forbidden) for anybody else's account."""
    api_key = secrets.token_urlsafe(16)
    key_hash = hash_api_key(deps.settings.secret_key, api_key)
    async with deps.store.transaction() as tx:
        known = await accounts_repo.find_test(tx, wanted.oauth_id)
        if known is not None and not known[2]:
            raise Refusal(reasons.FORBIDDEN, "This identity belongs to an account that is no test's.")
        made = (
            await accounts_repo.create_test(tx, wanted.username, wanted.oauth_id, key_hash) if known is None else None
        )
        account = made if known is None else known[0]
        if account is None:
            raise Refusal(reasons.FORBIDDEN, "Somebody else is making this account now.")
        if known is not None:
            await accounts_repo.refresh_test(tx, account, wanted.username, key_hash)
        moved = wanted.kudos - (0 if known is None else known[1])
        if moved:
            await accounts_repo.award(tx, account, moved, entry="ADMIN_ADJUSTMENT", action="admin")
        await accounts_repo.set_role(tx, account, Role.MODERATOR, held=wanted.moderator)
        await accounts_repo.set_role(tx, account, Role.TRUSTED, held=wanted.trusted or wanted.moderator)
        await accounts_repo.set_role(tx, account, Role.DELETED, held=False)
        online = timedelta(seconds=deps.settings.worker_online_seconds)
        shown = await accounts_repo.describe(tx, [account], online=online)
    return api_key, Shown(shown[0], Privilege.PUBLIC), known is None
