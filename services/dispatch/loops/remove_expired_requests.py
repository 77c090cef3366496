"""Expired requests go, with their generations; their objects are queued for deletion.

Two replicas skip each other's rows.
"""

from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import upkeep
from services.dispatch.rules.streams import Signal

_BATCH = 500
"""Rows of one transaction: a second of work at most, so that it blocks nobody for long."""


async def remove_expired_requests(deps: Deps) -> None:
    """One pass, in batches. What ended without an answer is signalled after its deletion was committed."""
    while True:
        expired = await upkeep.remove_expired(deps.store, now=deps.clock.now(), amount=_BATCH)
        for request in expired:
            events.removed(answered=not request.unanswered)
            if request.is_chat and request.unanswered:
                signal = Signal("faulted", request.finished, request.fault_reason, request.fault_rc)
                consequences.publish(request.id, [signal], deps)
            consequences.ended(request.id, request.streaming, deps)
        if len(expired) < _BATCH:
            return
