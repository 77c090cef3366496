"""GiveJobsBack: the worker went away before it was told of its jobs."""

from horde.contract.api_keys import hash_api_key
from horde.contract.limits import MAX_JOBS_PER_POP
from services.dispatch import undoing
from services.dispatch.deps import Deps
from services.dispatch.repo import waiting as repo
from services.dispatch.repo.outcomes import as_id
from services.dispatch.rules.jobs import generation_ids


async def give_jobs_back(api_key: str, claim_id: str, deps: Deps) -> None:
    """Gives back what still runs of a claim of this key's worker. Anything else is left alone.

    What is no id names no claim: then there is nothing to give back.
    """
    claim = as_id(claim_id)
    if claim is None:
        return
    generations = generation_ids(claim, MAX_JOBS_PER_POP)
    running = await repo.owned_running(deps.store, generations, hash_api_key(deps.settings.secret_key, api_key))
    for request, ids in running.items():
        await undoing.give_back(request, ids, deps)
