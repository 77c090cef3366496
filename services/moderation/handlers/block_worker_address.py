"""BlockWorkerAddress: a moderator keeps out the address that a worker comes from."""

from datetime import timedelta

from horde.contract.ip_subject import ip_subject
from services.moderation import looking, standings
from services.moderation.deps import Deps
from services.moderation.rules import blocking


async def block_worker_address(api_key: str, worker_id: str, length: timedelta, deps: Deps) -> bool:
    """Whether it is kept out: not when what is recorded of the worker is no address.

    Raises Refusal(InvalidAPIKey, NotModerator, WorkerNotFound), and LiveUnavailable.
    """
    operator = await looking.moderator_of(api_key, deps)
    subject = ip_subject(await looking.address_of_worker(worker_id, deps))
    if subject is None:
        deps.events.unblockable(worker_id)
        return False
    await standings.keep_out(blocking.target_of_subject(subject), length, deps)
    deps.events.decided("worker address blocked", operator.id, worker_id=worker_id, seconds=int(length.total_seconds()))
    return True
