"""Whether a worker's address belongs to a VPN, as an outside checker says. base-domain 7.3.

The checker answers with a probability. Its answers are kept for hours: workers pop from the same address all day.
"""

from ipaddress import ip_address, ip_network
from typing import Literal

import httpx

from horde.settings import Settings, Words, env
from horde.telemetry import logs
from horde.telemetry.metrics import Counter
from services.dispatch.memory import Memory

log = logs.get(__name__)

type Verdict = Literal["safe", "unsafe", "unknown"]

_UNSAFE_FROM = 0.93
_TIMEOUT_SECONDS = 2.0
_KEPT_SECONDS = 6 * 3600.0
_REMEMBERED = 10_000
_TOO_MANY_REQUESTS = 429

_CHECKS = Counter("horde_dispatch_vpn_checks_total", "Addresses that the VPN checker was asked about.", ("verdict",))


class VpnCheckSettings(Settings):
    """Who tells VPN addresses."""

    ip_checker: str | None = env(
        "IP_CHECKER",
        "URL that answers with the probability that {ipaddr} is a VPN; unset: every address is safe.",
        None,
        pattern=r"^https?://.*\{(ip|ipaddr)?\}",
    )
    ip_checker_exempt: Words = env(
        "HORDE_IP_CHECKER_EXEMPT", "Addresses and networks that are never checked, as a comma or JSON list.", ()
    )


class VpnCheck:
    """The checker and its answers so far. One for the process; `close` it at the end."""

    def __init__(self, url: str | None = None, exempt: Words = ()) -> None:
        self._url = url
        # made before anybody waits: to read the certificates takes longer than to ask
        self._web = None if url is None else httpx.AsyncClient(timeout=_TIMEOUT_SECONDS)
        self._exempt = [ip_network(network, strict=False) for network in exempt]
        self._known = Memory(_REMEMBERED)

    async def judge(self, address: str, *, now: float) -> Verdict:
        """`unknown`: the checker is away, or has enough of us. `now`: the monotonic clock, in seconds."""
        web = self._web
        if web is None or self._is_exempt(address):
            return "safe"
        known = self._known.get(address, now=now)
        if known is not None:
            return "unsafe" if known == "unsafe" else "safe"
        verdict = await self._known.ask_once(address, lambda: _asked(web, self._address_of(address)))
        if verdict != "unknown":
            self._known.put(address, verdict, _KEPT_SECONDS, now=now)
        return verdict

    async def close(self) -> None:
        """Ends the connections to the checker."""
        if self._web is not None:
            await self._web.aclose()

    def _address_of(self, address: str) -> str:
        url = self._url or ""
        for place in ("{ipaddr}", "{ip}", "{}"):
            url = url.replace(place, address)
        return url

    def _is_exempt(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._exempt)


async def _asked(web: httpx.AsyncClient, url: str) -> Verdict:
    verdict = await _answered(web, url)
    _CHECKS.labels(verdict).inc()
    return verdict


async def _answered(web: httpx.AsyncClient, url: str) -> Verdict:
    try:
        answer = await web.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as wrong:
        log.warning("VPN checker not reached", why=type(wrong).__name__)
        return "unknown"
    if answer.status_code == _TOO_MANY_REQUESTS:
        return "unknown"
    if not answer.is_success:
        return "safe"
    try:
        return "safe" if float(answer.text) < _UNSAFE_FROM else "unsafe"
    except ValueError:
        log.warning("VPN checker answers with no number")
        return "unknown"
