"""Whether an address is in timeout: moderation's answer, remembered for seconds or until a change is heard of."""

from horde.clock import Clock
from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from horde.telemetry.address_checks import address_checked
from services.dispatch.memory import Memory
from services.dispatch.neighbours import Neighbours

log = logs.get(__name__)

_FRESH_SECONDS = 5.0
"""How long an answer holds at most: where a change was not heard, a block takes that long to bite."""

_REMEMBERED = 10_000
"""Addresses kept; the oldest answer goes first."""

_TELLING_SECONDS = 4 * 24 * 3600
"""A longer timeout is not told in seconds. base-domain 1.10."""


class Addresses:
    """The standing of worker addresses."""

    def __init__(self, neighbours: Neighbours, clock: Clock) -> None:
        self._neighbours = neighbours
        self._clock = clock
        self._known = Memory(_REMEMBERED)

    async def refuse_timeout(self, address: str) -> None:
        """Raises Refusal TimeoutIP for an address in timeout. Moderation unreachable: the worker is let in."""
        seconds = await self._timeout(address)
        if seconds > 0:
            how_long = f" Try again in {seconds} seconds." if seconds <= _TELLING_SECONDS else ""
            raise Refusal(reasons.TIMEOUT_IP, f"This address may not connect workers for now.{how_long}")

    def forget(self) -> None:
        """The standing of an address has changed: each is asked for anew."""
        self._known = Memory(_REMEMBERED)

    async def began(self) -> None:
        """From now on changes are heard; what changed before was not."""
        self.forget()

    async def _timeout(self, address: str) -> int:
        began = self._clock.monotonic()
        known = self._known.get(address, now=began)
        cached = isinstance(known, int)
        # a hundred pops from one address at once are one question
        seconds = known if isinstance(known, int) else await self._known.ask_once(address, lambda: self._asked(address))
        address_checked(self._clock.monotonic() - began, cached=cached)
        return seconds

    async def _asked(self, address: str) -> int:
        known = self._known  # an answer that was on its way while they were forgotten is not remembered
        try:
            seconds = await self._neighbours.address_timeout(address)
        except (Outage, Refusal) as away:
            log.warning("address not checked", why=str(away))
            seconds = 0
        known.put(address, seconds, _FRESH_SECONDS, now=self._clock.monotonic())
        return seconds
