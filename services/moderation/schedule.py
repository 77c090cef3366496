"""What moderation does by itself, and how often; and what has to be true before it starts."""

from datetime import timedelta
from functools import partial

from horde.contract.ip_subject import has_real_secret
from horde.failures import StartError
from horde.rpc.server import Loop
from horde.telemetry import logs
from services.moderation import retention_repo
from services.moderation.deps import Deps
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops.retain import Retain
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.rules import fates
from services.moderation.rules.notices import is_usable

log = logs.get(__name__)


async def check_start(deps: Deps) -> None:
    """Raises StartError when a column of events has no fate, or the database does not enforce the fates.

    What newer code has added is that code's to let go: beside it this code may start. Warns, once each, of what
    moderation can work without.
    """
    wrong = fates.disagreements(*await retention_repo.shape(deps.store))
    if wrong and await deps.store.is_newer():
        log.warning("moderation_events is of newer code", differences=list(wrong))
    elif wrong:
        raise StartError(f"moderation_events is not what retention keeps its promises for: {'; '.join(wrong)}")
    settings = deps.settings
    if not has_real_secret(settings.secret_key):
        log.warning("no pseudonyms", why="secret_key is unset or a known example value")
    if not deps.evidence.is_configured:
        log.warning("no evidence store", unset=list(deps.evidence.missing))
    if settings.moderation_frontpage_url is not None and not is_usable(settings.moderation_frontpage_url):
        log.warning("alerts have no links", why="HORDE_MODERATION_FRONTPAGE_URL is no absolute http(s) address")


def every_loop(deps: Deps) -> list[Loop]:
    """The loops of moderation. All but the first are led by one replica at a time."""
    settings, store, evidence = deps.settings, deps.store, deps.evidence
    events = EvidenceEvents()
    retain = Retain(store, evidence, settings.retention, events, deps.clock)
    sweep_every = timedelta(seconds=settings.moderation_sweep_interval_seconds)
    return [
        Loop(
            "refresh_filters",
            timedelta(seconds=settings.moderation_filter_refresh_seconds),
            deps.filters.refresh,
        ),
        Loop(
            "upload_evidence",
            timedelta(seconds=settings.moderation_upload_interval_seconds),
            partial(upload_evidence, store, evidence, events, deps.clock),
        ),
        Loop("retain", timedelta(seconds=settings.moderation_retention_interval_seconds), retain.tick),
        Loop("prove_retention", sweep_every, retain.prove),
        Loop("sweep_orphans", sweep_every, partial(sweep_orphans, store, evidence, events)),
    ]
