"""SubmitFault: a worker gives a job up.

Its job waits again, or its request is faulted when that was one fault too many.
"""

from horde.contract.api_keys import hash_api_key
from horde.failures import Outage
from horde.telemetry import logs
from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes
from services.dispatch.rules import reply as replies
from services.dispatch.rules import submission
from services.dispatch.rules.submission import FaultAsk, Target

log = logs.get(__name__)

_read_target = durations.get_progen(outcomes.read_target)


@durations.submit
async def submit_fault(ask: FaultAsk, deps: Deps) -> None:
    """A repeat changes nothing.

    Raises Refusal: InvalidJobID, InvalidAPIKey, WrongCredentials, and DuplicateGen when a reply is stored already.
    """
    key_hash = hash_api_key(deps.settings.secret_key, ask.api_key)
    target = submission.owned(await _read_target(deps.store, ask.generation_id, key_hash))
    events.given_up(target, replies.fault_label(ask.fault_reason))
    if target.faulted:
        return
    if target.finished:
        submission.duplicate(target)
        return
    if target.is_chat and ask.fault_reason in replies.FAULT_MESSAGES:
        await _record(replies.FAULT_MESSAGES[ask.fault_reason], target, deps)
    fault = await outcomes.fault_generation(
        deps.store,
        target.id,
        limit=deps.settings.faulted_generations_limit,
        only_lapsed=False,
        now=deps.clock.now(),
    )
    if fault.outcome == "gone":
        raise submission.unknown_job()
    if fault.outcome == "faulted":
        if target.over_capacity:
            events.shadow_ended(worker_trusted=target.worker_trusted, max_length=target.max_length, ending="faulted")
        consequences.faulted(fault, deps, fake=target.fake, chat=target.is_chat)
        consequences.reported(deps)
        if target.streamed:
            # last: a caller that goes away meanwhile takes nothing with it
            await consequences.lease_gone(target.id, target.request_id, deps, ended=not target.fake)


async def _record(message: str, target: Target, deps: Deps) -> None:
    """Its own commit, before the fault, so that a request faulted by it tells this reason.

    A failed write does not stop the fault.
    """
    try:
        await outcomes.record_worker_fault(deps.store, target.id, message)
    except Outage as away:
        log.warning("fault reason not recorded", generation=str(target.id), why=str(away))
