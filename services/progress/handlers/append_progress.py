"""AppendProgress: one post of a worker, from the check of its shape to the renewed lease."""

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key, lease_key
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.live import LiveUnavailable
from horde.telemetry import logs
from services.progress import events
from services.progress.deps import Deps
from services.progress.rules import deltas
from services.progress.rules.deltas import Delta, Outcome, Renewal, Verdict

log = logs.get(__name__)


async def append_progress(delta: Delta, api_key: str, deps: Deps) -> Verdict:
    """Judges the post by its lease alone; asks dispatch only when there is none, and tells it when the lease grew.

    Raises Refusal as the proto lists, NeighbourUnavailable when a post without a lease cannot be told apart.
    """
    delta = deltas.checked(delta)
    # Both sides of the comparison are hashes of hashes with a secret in them, so how far they agree tells nothing of
    # the key: the script may compare them as plain text.
    key = lease_key(hash_api_key(deps.secret_key, api_key))
    try:
        verdict = await deps.leases.append(delta, key=key, now=deps.now())
    except LiveUnavailable as away:
        raise Refusal(
            reasons.CHAT_PROGRESS_UNAVAILABLE, "Progress cannot be kept now. Keep generating and post again."
        ) from away
    events.judged(verdict)
    if verdict.outcome is Outcome.ABSENT:
        raise deltas.without_lease(is_alive=await deps.dispatch.is_alive(delta.generation_id))
    deltas.require_accepted(verdict)
    if verdict.renewal is Renewal.GRANTED:
        await _tell_dispatch(delta.generation_id, verdict.job_ttl_seconds, deps)
    return verdict


async def _tell_dispatch(generation_id: str, job_ttl_seconds: int, deps: Deps) -> None:
    """The post stands already, so a failure here is only logged: the next renewal, a second later, mends it."""
    try:
        await deps.dispatch.renew_lease(generation_id, job_ttl_seconds)
    except (Outage, Refusal) as failure:
        log.warning("lease not renewed at dispatch", generation=generation_id, why=str(failure))
