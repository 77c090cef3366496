"""What the handlers are given: every thing with a life of its own, made once in `__main__`."""

from dataclasses import dataclass

from horde.clock import Clock
from horde.reference import ReferenceSource
from horde.store import Store
from services.admission.clearing import Clearing
from services.admission.events import Events
from services.admission.neighbours import Media, Moderation
from services.admission.settings import AdmissionSettings
from services.admission.snapshots import Loads, Passkeys, Policy, Standings
from services.admission.telling import Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """Opened stores, channels and snapshots."""

    store: Store
    moderation: Moderation
    media: Media
    clock: Clock
    settings: AdmissionSettings
    events: Events
    reference: ReferenceSource
    passkeys: Passkeys
    policy: Policy
    standings: Standings
    loads: Loads
    telling: Telling
    clearing: Clearing
