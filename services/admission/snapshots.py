"""What admission remembers for seconds, so that a submission needs no call for it. Losing it costs one call."""

import hmac
from dataclasses import dataclass
from uuid import UUID

from horde.clock import Clock
from horde.failures import Outage
from horde.store import Store
from horde.telemetry import logs
from horde.telemetry.address_checks import address_checked
from services.admission import repo
from services.admission.neighbours import Moderation
from services.admission.rules.facts import Availability, Load

log = logs.get(__name__)

_BUSY_SECONDS = 1.0
_BUSY_CALLS = 10
"""An address that sends more than so many submissions in so long is not asked about for each of them: no ordinary one
may send as many."""

_LATELY_SECONDS = 5.0
"""How long a load is good enough to be counted."""

_MOST_LOADS = 1000
"""Sets of workers whose load is kept at once."""

_MOST_ADDRESSES = 10_000
"""Standings kept at once: a second of traffic beyond any budget."""


class Passkeys:
    """The passkeys of service accounts. A flagged account's stops counting within one refresh."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: list[tuple[bytes, str]] = []

    async def refresh(self) -> None:
        """Reads them again."""
        known = await repo.known_passkeys(self._store)
        self._known = [(passkey.encode(), owner) for passkey, owner in known.items()]

    def owner(self, passkey: str) -> str | None:
        """The alias of the service whose passkey this is. Compared in constant time, with each (decision 20)."""
        given = passkey.encode("utf-8", "surrogatepass")
        owners = [owner for known, owner in self._known if hmac.compare_digest(given, known)]
        return owners[0] if owners and passkey else None


class Policy:
    """Whether moderation has any filter. Until it answered once, every prompt counts as one to be screened."""

    def __init__(self, moderation: Moderation) -> None:
        self._moderation = moderation
        self.has_filters = True

    async def refresh(self) -> None:
        """Asks again; the last answer stays while moderation is away."""
        self.has_filters = await self._moderation.has_filters()


class Loads:
    """What waits for a set of workers; for the metrics of requests it decides nothing about, every few seconds."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[frozenset[UUID], tuple[float, Load]] = {}

    async def now(self, available: Availability) -> Load:
        """Measured now: where it decides whether kudos are held."""
        load = await repo.competing_load(self._store, available)
        if len(self._known) >= _MOST_LOADS:
            self._known.clear()
        self._known[frozenset(available.worker_ids)] = (self._clock.monotonic(), load)
        return load

    async def lately(self, available: Availability) -> Load:
        """Measured within the last seconds."""
        kept = self._known.get(frozenset(available.worker_ids))
        if kept is not None and self._clock.monotonic() - kept[0] < _LATELY_SECONDS:
            return kept[1]
        return await self.now(available)


@dataclass(slots=True)
class _Standing:
    """A second of an address: when it began, its submissions so far, and what moderation said last."""

    began: float
    calls: int = 0
    seconds: int = 0


class Standings:
    """Address timeouts. While moderation is away no address is in timeout."""

    def __init__(self, moderation: Moderation, clock: Clock) -> None:
        self._moderation = moderation
        self._clock = clock
        self._known: dict[str, _Standing] = {}

    async def timeout_seconds(self, address: str) -> int:
        """Seconds until the address is out of its timeout; 0: it is in none, or nobody knows.

        Asked anew each time, except of a busy address: its answer is reused until the second is over.
        """
        now = self._clock.monotonic()
        kept = self._known.get(address)
        if kept is None or now - kept.began >= _BUSY_SECONDS:
            if len(self._known) >= _MOST_ADDRESSES:
                self._known.clear()
            kept = self._known[address] = _Standing(now)
        kept.calls += 1
        cached = kept.calls > _BUSY_CALLS
        if not cached:
            kept.seconds = await self._asked(address)
        address_checked(self._clock.monotonic() - now, cached=cached)
        return kept.seconds

    def forget(self, address: str) -> None:
        """The address was just refused a prompt, which may have put it out."""
        self._known.pop(address, None)

    async def _asked(self, address: str) -> int:
        try:
            return await self._moderation.timeout_seconds(address) if address else 0
        except Outage as away:
            log.warning("address not checked", why=str(away))
            return 0
