"""The gateway process: reads the environment, connects, serves."""

import asyncio
import sys
from time import monotonic

from horde import collecting
from horde.clock import SystemClock
from horde.live import Live
from horde.ratelimit import RateLimiter
from horde.rpc.probes import Readiness, announce, probes
from horde.rpc.server import run, stop_signal
from horde.settings import load
from horde.telemetry import logs, tracing
from services.gateway.app import build_app
from services.gateway.deps import GatewayDeps
from services.gateway.events import Events
from services.gateway.neighbours import connect
from services.gateway.openai.orphans import Orphans
from services.gateway.serving import served
from services.gateway.settings import GatewaySettings

log = logs.get(__name__)

_CLOSING_SHARE = 1.0
"""Seconds of the drain that are left for closing connections and flushing traces."""


def main() -> int:
    """Runs the gateway until SIGTERM or SIGINT; gives the exit code."""
    return run(_serve())


async def _serve() -> None:
    settings = load(GatewaySettings)
    logs.configure(settings, "gateway")
    tracing.configure(settings, "gateway")
    stop = stop_signal()
    neighbours = connect(settings)
    readiness = Readiness(neighbours.checks)
    limiting = RateLimiter.open(settings.redis_url, enabled=settings.rate_limits_enabled)
    try:
        async with (
            limiting as limiter,
            Live.open(settings) as live,
            probes(settings.metrics_listen, readiness) as metrics,
        ):
            orphans = Orphans(live, settings.front_stream_budget_seconds)
            deps = GatewayDeps.made(neighbours, SystemClock(), settings, limiter, orphans, Events())
            app = build_app(deps)
            drain = max(settings.drain_seconds - _CLOSING_SHARE, 0.0)
            async with served(app, settings.gateway_listen, drain) as url:
                collecting.settle()
                announce(settings.address_file, {"http": url, "metrics": metrics})
                log.info("serving", http=url, metrics=metrics)
                await stop.wait()
                started = monotonic()
                readiness.stopping = True
                deps.stopping.set()
                log.info("draining", seconds=settings.drain_seconds)
            log.info("drained", seconds=round(monotonic() - started, 3))
    finally:
        await neighbours.close()
    await asyncio.to_thread(tracing.shutdown)


if __name__ == "__main__":
    sys.exit(main())
