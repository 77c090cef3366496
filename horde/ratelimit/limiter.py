"""Fixed windows, counted in Redis for all gateways together, or in this process alone while Redis is away."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage

from horde.live import Key, Live, LiveUnavailable, Script
from horde.settings import RedisSettings
from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge

log = logs.get(__name__)

WINDOW = Key(
    "horde:ratelimit:{window}:{subject}",
    kind="string",
    ttl=None,  # that of its window, a second to an hour
    owner="gateway",
    if_lost="the window starts again from nothing",
)

_HITS = Counter("horde_ratelimit_hits_total", "Calls counted against a limit.", ("outcome",))
_FALLBACKS = Counter("horde_ratelimit_fallbacks_total", "Calls counted in this process because Redis was away.")
_ALONE = Gauge("horde_ratelimit_alone", "1 while this process counts alone because Redis is away.")
_ALLOWED, _REFUSED = _HITS.labels("allowed"), _HITS.labels("refused")

_PAUSE = 5.0
"""Seconds for which Redis is left alone after it failed, so that an outage does not slow every call by a time-out."""

_TIMEOUT = 0.5
"""Seconds Redis may take. A limiter must never be what a client waits for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a call may go on, and what its answer says in `X-RateLimit-*`."""

    allowed: bool
    limit: str  # in words, as flask-limiter says it: `2 per 1 second`
    amount: int
    remaining: int
    reset_at: float  # Unix seconds


@lru_cache(maxsize=256)
def parsed(limit: str) -> RateLimitItem:
    """A limit in flask-limiter notation: `90/minute`, `2 per second`. Raises ValueError."""
    return parse(limit)


class RateLimiter:
    """Counts calls. Never fails and never waits long: without Redis it counts alone."""

    def __init__(self, live: Live | None) -> None:
        """`live` None: nothing is counted and everything is allowed."""
        self._script = None if live is None else Script(live, "horde.ratelimit", "count_windows")
        self._memory = MemoryStorage()
        self._retry_at = 0.0

    @classmethod
    @asynccontextmanager
    async def open(cls, redis_url: str, *, enabled: bool = True) -> AsyncIterator[Self]:
        """A limiter on `redis_url`. Not enabled: every call is allowed and nothing is counted."""
        if not enabled:
            yield cls(None)
            return
        async with Live.open(RedisSettings(redis_url=redis_url, redis_timeout_seconds=_TIMEOUT)) as live:
            yield cls(live)

    async def hit(self, limit: str, *key: str) -> Verdict:
        """Counts one call against `limit` for what `key` names (an address, a route), and says whether it may go on."""
        return (await self.hit_all([(limit, key)]))[0]

    async def hit_all(self, hits: Sequence[tuple[str, Sequence[str]]]) -> list[Verdict]:
        """Counts one call against several limits in one round trip: `[(limit, key parts), …]`."""
        items = [(parsed(limit), "/".join(key)) for limit, key in hits]
        if self._script is None:
            return [_verdict(item, 0, item.get_expiry()) for item, _ in items]
        verdicts = await self._shared(self._script, items)
        if verdicts is None:
            _FALLBACKS.inc()
            verdicts = [await self._counted_alone(item, subject) for item, subject in items]
        for verdict in verdicts:
            (_ALLOWED if verdict.allowed else _REFUSED).inc()
        return verdicts

    async def _shared(self, script: Script, items: Sequence[tuple[RateLimitItem, str]]) -> list[Verdict] | None:
        """The verdicts of Redis; None while it is away."""
        if time.monotonic() < self._retry_at:
            return None
        keys = [WINDOW(window=f"{item.amount}-{item.get_expiry()}", subject=subject) for item, subject in items]
        try:
            counted = await script(keys=keys, args=[item.get_expiry() for item, _ in items])
        except LiveUnavailable as away:
            self._retry_at = time.monotonic() + _PAUSE
            _ALONE.set(1)
            log.warning("rate limits are counted in this process alone", why=away.detail)
            return None
        _ALONE.set(0)
        return [
            _verdict(item, counted[2 * place], counted[2 * place + 1] / 1000) for place, (item, _) in enumerate(items)
        ]

    async def _counted_alone(self, item: RateLimitItem, subject: str) -> Verdict:
        count = await self._memory.incr(item.key_for(subject), item.get_expiry())
        ends_at = await self._memory.get_expiry(item.key_for(subject))
        return _verdict(item, count, ends_at - time.time())


def _verdict(item: RateLimitItem, count: int, seconds_left: float) -> Verdict:
    return Verdict(
        allowed=count <= item.amount,
        limit=str(item),
        amount=item.amount,
        remaining=max(0, item.amount - count),
        reset_at=time.time() + seconds_left,
    )
