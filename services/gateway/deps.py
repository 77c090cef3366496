"""What every route has at hand."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from horde.clock import Clock
from horde.ratelimit import RateLimiter
from services.gateway.events import Events
from services.gateway.fresh import Fresh
from services.gateway.neighbours import KudosFlow, Models, Modes, Neighbours, Performance, TextStatistics, Workers
from services.gateway.openai.orphans import Orphans
from services.gateway.passkeys import ProxyPasskeys
from services.gateway.settings import GatewaySettings
from services.gateway.throttle import Throttle
from services.gateway.wire import accounts, models, system, workers

VERSION = version("chat-horde")

_MODES_SECONDS = 2.0
"""Upstream keeps the modes for 50 s, keyed by path, so it shows moderators' answers to everyone (base-domain 0.3, 14)
and a switched mode late. Here only the service's answer is kept, and just long enough to carry a burst."""

_FLOW_SECONDS = 60.0
"""Hours are summed over the whole ledger of a day: once a minute is enough for a chart of hours."""

_STATISTICS_SECONDS = 10.0
"""Upstream keeps them for 50 s. The last minute's figures move while somebody looks, and folded sums are cheap."""


@dataclass(slots=True)
class Load:
    """How many requests this process is answering now."""

    active: int = 0


@dataclass(frozen=True, slots=True)
class GatewayDeps:
    """The neighbours, the clock, the limits, and what is remembered of the neighbours for a moment."""

    neighbours: Neighbours
    clock: Clock
    settings: GatewaySettings
    throttle: Throttle
    orphans: Orphans
    events: Events
    node: str
    load: Load
    models: Fresh[Models]
    chat_models: Fresh[Models]
    modes: Fresh[Modes]
    performance: Fresh[Performance]
    workers: Fresh[Workers]
    """As anyone sees them."""
    kudos_flow: Fresh[KudosFlow]
    text_statistics: Fresh[TextStatistics]
    stopping: asyncio.Event
    """Set when the process begins to leave: answers that only wait are given at once."""

    @classmethod
    def made(
        cls,
        neighbours: Neighbours,
        clock: Clock,
        settings: GatewaySettings,
        limiter: RateLimiter,
        orphans: Orphans,
        events: Events,
    ) -> "GatewayDeps":
        """The dependencies around the given ones."""

        def kept[Ask, T](call: Callable[[Ask], Awaitable[T]], ask: Ask, seconds: float) -> Fresh[T]:
            return Fresh(lambda: call(ask), seconds, clock)

        async def passkeys() -> Sequence[bytes]:
            return accounts.passkey_hashes(await neighbours.list_proxy_passkeys(accounts.passkeys_request()))

        seconds = settings.models_cache_seconds
        return cls(
            neighbours=neighbours,
            clock=clock,
            settings=settings,
            throttle=Throttle(limiter, settings, clock, ProxyPasskeys(passkeys, clock)),
            orphans=orphans,
            events=events,
            node=f"{socket.gethostname()}:{settings.gateway_listen.rpartition(':')[2]}:{VERSION}",
            load=Load(),
            models=kept(neighbours.list_models, models.request(chat=False), seconds),
            chat_models=kept(neighbours.list_models, models.request(chat=True), seconds),
            modes=kept(neighbours.get_modes, system.modes_request(), _MODES_SECONDS),
            performance=kept(neighbours.get_performance, system.performance_request(), seconds),
            workers=kept(neighbours.list_workers, workers.public_list_request(), seconds),
            text_statistics=kept(neighbours.get_text_statistics, system.text_statistics_request(), _STATISTICS_SECONDS),
            kudos_flow=kept(neighbours.get_kudos_flow, system.kudos_flow_request(), _FLOW_SECONDS),
            stopping=asyncio.Event(),
        )
