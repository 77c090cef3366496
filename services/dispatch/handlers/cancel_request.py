"""CancelRequest: nothing more is handed out.

Streamed generations end and are paid for what was posted; others finish as usual.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.dispatch import consequences, standing
from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes
from services.dispatch.repo.outcomes import Running
from services.dispatch.rules import submission
from services.dispatch.rules.status import RequestStatus
from services.dispatch.rules.streams import Posted, Signal
from services.dispatch.rules.submission import Pay, Work

log = logs.get(__name__)


async def cancel_request(request_id: str, deps: Deps, *, chat: bool) -> RequestStatus:
    """The status as it was when the cancel arrived.

    One cancel counts; a repeat changes nothing. Raises Refusal(RequestNotFound).
    """
    status = await standing.read_status(request_id, deps, chat=chat)
    tally = status.standing.tally
    if tally.is_done or tally.cancelled:
        events.cancelled(claimed=False)
        return status
    request = UUID(request_id)
    posted: Mapping[str, Posted] = {}
    if status.standing.streamed and tally.processing > 0:
        posted = await _read_posted(request, deps)
    now = deps.clock.now()
    ttl = timedelta(seconds=deps.settings.request_ttl_seconds)
    async with deps.store.transaction() as tx:
        if not await outcomes.claim_cancel(tx, request):
            events.cancelled(claimed=False)
            return status
        streaming = [running for running in await outcomes.list_running(tx, request) if running.streamed]
        for running in streaming:
            # a fake one has nobody to pay; it is told to stop like the others
            if not running.fake:
                characters = _characters(posted.get(str(running.id)))
                await outcomes.settle_cancelled(
                    tx, running.id, characters, _price(running, characters, deps), now=now, ttl=ttl
                )
        finished = (await outcomes.conclude(tx, [request], now))[request]
    events.cancelled(claimed=True)
    if chat:
        consequences.publish(request, [Signal("cancelled", finished)], deps)
    # last: a caller that goes away meanwhile takes nothing with it
    await consequences.leases_cancelled(request, [running.id for running in streaming], deps)
    return status


async def _read_posted(request: UUID, deps: Deps) -> Mapping[str, Posted]:
    """What was posted so far. Nobody can tell: each generation settles on the floor."""
    streaming: Sequence[Running] = [
        running for running in await outcomes.list_running(deps.store, request) if running.streamed and not running.fake
    ]
    if not streaming:
        return {}
    try:
        return await deps.neighbours.read_posted(str(request), [str(running.id) for running in streaming])
    except (Outage, Refusal) as away:
        log.warning("posted progress not read", request=str(request), why=str(away))
        return {}


def _characters(posted: Posted | None) -> int:
    """The characters that are paid for. Where the stream is gone, the bytes of its lease stand in for them."""
    if posted is None:
        return 0
    return posted.accepted_bytes if posted.content_characters is None else posted.content_characters


def _price(running: Running, characters: int, deps: Deps) -> Pay:
    work = Work(
        model=running.model,
        reply_characters=characters,
        prompt_characters=running.prompt_characters,
        max_length=running.max_length,
        validated_backend=running.validated_backend,
        owner_trusted=running.owner_trusted,
        targeted=running.targeted and deps.settings.require_matched_targeting,
    )
    return submission.pay(work, deps.reference.current)
