"""UnblockWorkerAddress: a moderator lets the address of a worker in again."""

from horde.contract.ip_subject import ip_subject
from services.moderation import looking, standings
from services.moderation.deps import Deps
from services.moderation.rules import blocking


async def unblock_worker_address(api_key: str, worker_id: str, deps: Deps) -> None:
    """Ends its block and its timeout. Raises Refusal as block_worker_address, and LiveUnavailable."""
    operator = await looking.moderator_of(api_key, deps)
    subject = ip_subject(await looking.address_of_worker(worker_id, deps))
    if subject is not None:
        await standings.let_in(blocking.target_of_subject(subject), deps, forgive=False)
        deps.events.decided("worker address unblocked", operator.id, worker_id=worker_id)
