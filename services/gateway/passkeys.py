"""For which address a call is made: the peer's, or the one that a known service speaks for. base-domain 1.6."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence

from horde.clock import Clock
from horde.failures import Outage
from horde.telemetry import logs
from services.gateway.caller import Caller, normal_address
from services.gateway.fresh import Fresh

log = logs.get(__name__)

_SECONDS = 5.0
"""How long the passkeys are kept. base-domain 1.6."""


class ProxyPasskeys:
    """The passkeys of services, as hashes. Asked for only while calls carry one; the last answer outlives an outage."""

    def __init__(self, ask: Callable[[], Awaitable[Sequence[bytes]]], clock: Clock) -> None:
        """`ask` tells the SHA-256 of every passkey that counts."""
        self._ask = ask
        self._last: Sequence[bytes] = ()
        self._known = Fresh(self._read, _SECONDS, clock)

    async def address_of(self, caller: Caller) -> str:
        """The address whose budget a call spends."""
        forwarded = normal_address(caller.proxied_for) if caller.proxied_for and caller.proxy_passkey else None
        if forwarded is None or not await self._knows(caller.proxy_passkey):
            return caller.remote_address
        return forwarded

    async def _knows(self, passkey: str) -> bool:
        """Compared in constant time, with every known one (decision 20)."""
        given = hashlib.sha256(passkey.encode()).digest()
        matches = [hmac.compare_digest(given, known) for known in await self._known.get()]
        return any(matches)

    async def _read(self) -> Sequence[bytes]:
        try:
            self._last = await self._ask()
        except Outage as away:
            log.warning("passkeys not renewed", why=away.detail)
        return self._last
