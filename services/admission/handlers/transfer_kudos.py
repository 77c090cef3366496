"""TransferKudos: an account gives kudos to another, once for each retry key."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import accounts_repo
from services.admission.deps import Deps
from services.admission.handlers.callers import personal_key
from services.admission.rules import transfers
from services.admission.rules.entry import worker_id
from services.admission.rules.transfers import Target, account_number, permit_transfer


async def transfer_kudos(api_key: str, called: str, amount: int, retry_key: str | None, deps: Deps) -> int:
    """What was transferred, in hundredths. Raises Refusal(InvalidAPIKey) and the reasons of base-domain 2.8."""
    giver = await personal_key(api_key, deps)
    if retry_key is not None:
        earlier = await accounts_repo.earlier_transfer(deps.store, giver.id, retry_key)
        if earlier is not None:
            if earlier != (called, amount):
                raise transfers.another_transfer()
            deps.events.transfer_repeated()
            return amount
    where = await find_target(called, deps)
    known = await accounts_repo.parties(deps.store, giver.id, where.account_id)
    receiver = None if where.account_id is None else known.get(where.account_id)
    is_too_fast = receiver is not None and await accounts_repo.has_transferred_lately(deps.store, receiver.id, giver.id)
    permit_transfer(known[giver.id], receiver, where, is_too_fast=is_too_fast, amount=amount, now=deps.clock.now())
    if receiver is None:
        raise Refusal(reasons.INVALID_TARGET_USERNAME, "There is no such account to give kudos to.")
    moved = await accounts_repo.transfer(
        deps.store,
        giver.id,
        receiver.id,
        sharedkey=where.sharedkey,
        amount=amount,
        called=called,
        retry_key=retry_key,
    )
    if moved:
        deps.events.transferred(giver.id, receiver.id, amount)
    else:
        deps.events.transfer_repeated()
    return amount


async def find_target(called: str, deps: Deps) -> Target:
    """What a name leads to."""
    sharedkey = worker_id(called)
    if sharedkey is None:
        return Target(account_number(called))
    key = await accounts_repo.read_key(deps.store, sharedkey)
    return Target(None) if key is None else Target(key.user_id, key.id, key.expiry)
