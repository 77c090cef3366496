"""ListAccounts: a page of accounts, as everybody sees them."""

from datetime import timedelta

from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.rules.accounts import Privilege, Shown

PAGE = 25
MAX_PAGE = 10_000
"""Accounts of a page, and the last page there is. base-domain 2.11."""


async def list_accounts(page: int, deps: Deps, *, by_age: bool) -> list[Shown]:
    """The page, counted from 1; beyond the last one nothing. Raises StoreUnavailable."""
    if not 1 <= page <= MAX_PAGE:
        return []
    ids = await accounts_repo.list_ids(deps.store, skipped=(page - 1) * PAGE, rows=PAGE, by_age=by_age)
    online = timedelta(seconds=deps.settings.worker_online_seconds)
    found = await accounts_repo.describe(deps.store, ids, online=online)
    return [Shown(account, Privilege.PUBLIC) for account in found]
