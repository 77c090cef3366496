"""GetGenerationState: progress found no lease for a post and asks why."""

from services.dispatch.deps import Deps
from services.dispatch.repo import outcomes
from services.dispatch.rules.status import GenerationState


async def get_generation_state(generation_id: str, deps: Deps) -> GenerationState | None:
    """None when it is not stored."""
    generation = outcomes.as_id(generation_id)
    return None if generation is None else await outcomes.read_generation_state(deps.store, generation)
