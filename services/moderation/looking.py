"""Who asks for what only moderators may have done, and the addresses of workers."""

from uuid import UUID

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from services.moderation import repo
from services.moderation.deps import Deps
from services.moderation.rules.modes import Operator, refuse_stranger


async def operator_of(api_key: str, deps: Deps) -> Operator:
    """Whose key this is. Raises Refusal(InvalidAPIKey), also for an account on its way out."""
    account = await repo.caller(deps.store, hash_api_key(deps.settings.secret_key or "", api_key))
    if account is None or account.deleted:
        raise Refusal(reasons.INVALID_API_KEY, "No account has this API key.")
    return Operator(account.id, account.moderator, admin=account.alias in deps.settings.admins)


async def moderator_of(api_key: str, deps: Deps) -> Operator:
    """The moderator whose key this is. Raises Refusal(InvalidAPIKey, NotModerator)."""
    operator = await operator_of(api_key, deps)
    refuse_stranger(operator)
    return operator


async def address_of_worker(worker_id: str, deps: Deps) -> str | None:
    """The origin of the worker's last check-in. Raises Refusal(WorkerNotFound)."""
    try:
        exists, origin = await repo.worker_address(deps.store, UUID(worker_id))
    except ValueError:
        exists, origin = False, None
    if not exists:
        raise Refusal(reasons.WORKER_NOT_FOUND, f"Worker '{worker_id[:100]}' not found.")
    return origin
