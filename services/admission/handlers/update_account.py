"""UpdateAccount: a holder, a moderator or an administrator changes an account."""

import secrets
from datetime import datetime, timedelta

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.store import Transaction
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules.account_changes import ROLES, Change, permit
from services.admission.rules.accounts import Described, KeyHolder, Role


async def update_account(api_key: str, account_id: int, change: Change, deps: Deps) -> dict[str, object]:
    """The changed values alone. Kudos in hundredths.

    Raises Refusal: InvalidAPIKey, AnonForbiddenUserMod, UserNotFound and what `permit` raises.
    """
    caller = await personal_key(api_key, deps)
    if caller.anonymous:
        raise _not_for_anonymous()
    async with deps.store.transaction() as tx:
        account = await _locked(tx, account_id, deps)
        if account.anonymous:
            raise _not_for_anonymous()
        wanted = permit(change, caller, account_id, is_deleted=Role.DELETED in account.roles)
        changed = await _apply(tx, account_id, wanted, deps.clock.now())
        after = await accounts_repo.describe(tx, [account_id], online=_online(deps))
    deps.events.account_changed(account_id, by=caller.id, fields=sorted(wanted))
    return _told(changed, after[0], caller)


async def _locked(tx: Transaction, account_id: int, deps: Deps) -> Described:
    if await accounts_repo.lock(tx, account_id) is not None:
        found = await accounts_repo.describe(tx, [account_id], online=_online(deps))
        if found:
            return found[0]
    raise Refusal(reasons.USER_NOT_FOUND, f"There is no account {account_id}.")


async def _apply(tx: Transaction, account_id: int, wanted: dict[str, object], now: datetime) -> dict[str, object]:
    """Writes it; gives what the answer names."""
    changed = {name: value for name, value in wanted.items() if name not in _TOLD_OTHERWISE}
    if wanted.get("generate_proxy_passkey"):
        changed["proxy_passkey"] = secrets.token_urlsafe(16)
    if wanted.get("moderator"):
        wanted = {**wanted, "trusted": True}
        changed["trusted"] = True
    await accounts_repo.update(tx, account_id, changed)
    for name, role in ROLES.items():
        if name in wanted:
            await accounts_repo.set_role(tx, account_id, role, held=bool(wanted[name]))
    if "education" in wanted and "concurrency" not in wanted:
        await accounts_repo.set_education_concurrency(tx, account_id, is_education=bool(wanted["education"]))
    if wanted.get("undelete"):
        await accounts_repo.set_role(tx, account_id, Role.DELETED, held=False)
        changed["undeleted"] = True
    if wanted.get("reset_suspicion"):
        await accounts_repo.reset_suspicions(tx, account_id)
        changed["new_suspicion"] = 0
    return changed | await _move_kudos(tx, account_id, wanted, now)


async def _move_kudos(tx: Transaction, account_id: int, wanted: dict[str, object], now: datetime) -> dict[str, object]:
    changed: dict[str, object] = {}
    monthly = wanted.get("monthly_kudos")
    if isinstance(monthly, int):
        changed["monthly_kudos"], is_first = await accounts_repo.add_monthly(tx, account_id, monthly)
        if is_first:
            # The first month begins now, not with the next run of the loop.
            await accounts_repo.pay_month(tx, account_id, now)
    kudos = wanted.get("kudos")
    if isinstance(kudos, int):
        changed["new_kudos"] = await accounts_repo.award(
            tx, account_id, kudos, entry="ADMIN_ADJUSTMENT", action="admin"
        )
    return changed


def _told(changed: dict[str, object], after: Described, caller: KeyHolder) -> dict[str, object]:
    """With the alias as it is now, as every other route tells a name; the concurrency too when a role moved it."""
    told = dict(changed)
    if "username" in told:
        told["username"] = after.alias
    if "education" in told:
        told["concurrency"] = after.concurrency
    if "new_kudos" in told:
        told["new_kudos"] = after.kudos
    if not caller.moderates:
        told.pop("admin_comment", None)
    return told


_TOLD_OTHERWISE = frozenset({"kudos", "monthly_kudos", "reset_suspicion", "generate_proxy_passkey", "undelete"})


def _online(deps: Deps) -> timedelta:
    return timedelta(seconds=deps.settings.worker_online_seconds)


def _not_for_anonymous() -> Refusal:
    return Refusal(reasons.ANON_FORBIDDEN_USER_MOD, "The anonymous account cannot be changed, and changes none.")
