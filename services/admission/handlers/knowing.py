"""What AdmitChat and AdmitText look up before they decide: the submission's facts, and the address it is judged by."""

from dataclasses import replace
from datetime import timedelta

from horde.contract.api_keys import ANONYMOUS_KEY, hash_api_key
from horde.contract.chat import ChatRequest
from horde.contract.text import TextRequest
from services.admission import durations, repo
from services.admission.deps import Deps
from services.admission.rules import address, entry
from services.admission.rules.facts import Caller, Submission


@durations.find_user
async def look_up(request: ChatRequest, caller: Caller, deps: Deps) -> Submission:
    """One statement for all of it. A key that is a UUID may be a shared key."""
    named = (entry.worker_id(worker) for worker in request.workers)
    return await repo.read_submission(
        deps.store,
        key_hash=hash_api_key(deps.settings.secret_key, caller.api_key),
        sharedkey=entry.worker_id(caller.api_key),
        operation_key=None if request.horde.dry_run else request.horde.operation_key,
        models=request.models,
        online=timedelta(seconds=deps.settings.worker_online_seconds),
        workers=[worker for worker in named if worker is not None],
    )


@durations.find_user
async def look_up_text(request: TextRequest, caller: Caller, deps: Deps) -> Submission:
    """The same for a text request, which claims no operation key."""
    named = (entry.worker_id(worker) for worker in request.named_workers)
    return await repo.read_submission(
        deps.store,
        key_hash=hash_api_key(deps.settings.secret_key, caller.api_key),
        sharedkey=entry.worker_id(caller.api_key),
        operation_key=None,
        models=request.models,
        online=timedelta(seconds=deps.settings.worker_online_seconds),
        workers=[worker for worker in named if worker is not None],
    )


def as_anonymous(caller: Caller) -> Caller:
    """The same caller under the anonymous key."""
    return replace(caller, api_key=ANONYMOUS_KEY)


def address_of(caller: Caller, deps: Deps) -> address.Address:
    """The address of the caller, or the one a known service speaks for."""
    return address.resolve(caller, proxy_owner=deps.passkeys.owner(caller.proxy_passkey))
