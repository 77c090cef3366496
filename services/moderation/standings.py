"""Who is kept out, changed for everybody at once: in Redis, and in what other services remember of it for seconds."""

from datetime import timedelta

from horde.failures import Outage
from horde.telemetry import logs
from services.moderation import repo
from services.moderation.deps import Deps
from services.moderation.rules.blocking import Target
from services.moderation.rules.timeouts import Leniency

log = logs.get(__name__)


async def keep_out(target: Target, length: timedelta, deps: Deps) -> None:
    """Raises LiveUnavailable."""
    await deps.addresses.keep_out(target, length, deps.clock.now())
    await _tell(deps)


async def let_in(target: Target, deps: Deps, *, forgive: bool) -> None:
    """Raises LiveUnavailable."""
    await deps.addresses.let_in(target, forgive=forgive)
    await _tell(deps)


async def report_suspicion(subject: str, leniency: Leniency, deps: Deps) -> timedelta:
    """For how long the subject is out now. Raises LiveUnavailable."""
    length = await deps.addresses.report_suspicion(subject, leniency)
    await _tell(deps)
    return length


async def _tell(deps: Deps) -> None:
    """Whoever does not hear it remembers the old standing for its few seconds."""
    try:
        await repo.tell_address_standings(deps.store)
    except Outage as away:
        log.warning("standing of an address not told", why=str(away))
