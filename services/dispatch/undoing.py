"""Claims whose worker went away before it was told: their jobs wait again, as if never claimed."""

import asyncio
from collections.abc import Sequence
from functools import partial
from uuid import UUID

from horde.contract.refusal import Refusal
from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.pop.check_in import Replaced
from services.dispatch.repo import queue
from services.dispatch.rules.jobs import Claim


async def finished(looking: asyncio.Task[Claim], deps: Deps) -> Claim:
    """A look that has begun is finished in any case: halfway, nobody could tell what it has claimed."""
    try:
        return await asyncio.shield(looking)
    except asyncio.CancelledError:
        deps.aftermath.enqueue("give_back", partial(_undo, looking, deps))
        raise


async def _undo(looking: asyncio.Task[Claim], deps: Deps) -> None:
    """Waits for a look to end, and gives back what it claimed."""
    try:
        claim = await looking
    except (Refusal, Replaced):
        return
    if claim.request_id is not None:
        await give_back(claim.request_id, claim.generation_ids, deps)


async def give_back(request: UUID, generations: Sequence[UUID], deps: Deps) -> None:
    """The generations vanish, their jobs wait again, and other workers are told. A repeat changes nothing."""
    await queue.give_back(deps.store, request, generations, deps.clock.now())
    consequences.ended(request, generations, deps)
    consequences.waiting(request, deps)
