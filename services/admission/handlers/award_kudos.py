"""AwardKudos: account 1 gives kudos that nobody paid."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.handlers.transfer_kudos import find_target

AWARDER = 1
"""The only account that awards. base-domain 2.8."""


async def award_kudos(api_key: str, called: str, amount: int, deps: Deps) -> int:
    """What was awarded, in hundredths.

    Raises Refusal(InvalidAPIKey, NotPrivileged, InvalidTargetUsername, DeletedUser).
    """
    caller = await personal_key(api_key, deps)
    if caller.id != AWARDER:
        raise Refusal(reasons.NOT_PRIVILEGED, "Only the horde's first account may award kudos.")
    where = await find_target(called, deps)
    known = await accounts_repo.parties(deps.store, caller.id, where.account_id)
    receiver = None if where.account_id is None else known.get(where.account_id)
    if receiver is None or receiver.anonymous:
        raise Refusal(reasons.INVALID_TARGET_USERNAME, "There is no such account to give kudos to.")
    if receiver.deleted:
        raise Refusal(reasons.DELETED_USER, "This account is marked for deletion.")
    await accounts_repo.award(deps.store, receiver.id, amount, entry="AWARD", action="awarded")
    return amount
