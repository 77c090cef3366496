"""The real gateway on a real port, before services that answer what a test wants."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from horde.clock import SystemClock
from horde.live import Live
from horde.ratelimit import RateLimiter
from services.gateway.app import GatewayDeps, build_app
from services.gateway.events import Events
from services.gateway.neighbours import connect
from services.gateway.openai.orphans import Orphans
from services.gateway.serving import served
from services.gateway.settings import GatewaySettings
from tests.fakes.gateway_services import Desk, fake_services


@dataclass
class Gateway:
    """A running gateway: its URL, a client of it, and the desk of the services behind it."""

    url: str
    client: httpx.AsyncClient
    desk: Desk
    stopping: asyncio.Event


@asynccontextmanager
async def running(desk: Desk | None = None, **settings: Any) -> AsyncIterator[Gateway]:
    """A gateway with these settings; without `redis_url` its limits are counted nowhere."""
    async with AsyncExitStack() as stack:
        on_desk = Desk() if desk is None else desk
        target = await stack.enter_async_context(fake_services(on_desk))
        given: dict[str, Any] = {
            "gateway_listen": "127.0.0.1:0",
            "redis_url": "redis://127.0.0.1:1/0",
            "rate_limits_enabled": False,
            "proxy_trusted_hops": 0,
            **{f"{name}_target": target for name in ("admission", "dispatch", "progress", "moderation")},
            **settings,
        }
        chosen = GatewaySettings(**given)
        limiter = await stack.enter_async_context(
            RateLimiter.open(chosen.redis_url, enabled=chosen.rate_limits_enabled)
        )
        neighbours = connect(chosen)
        stack.push_async_callback(neighbours.close)
        live = await stack.enter_async_context(Live.open(chosen))
        orphans = Orphans(live, chosen.front_stream_budget_seconds)
        deps = GatewayDeps.made(neighbours, SystemClock(), chosen, limiter, orphans, Events())
        url = await stack.enter_async_context(served(build_app(deps), chosen.gateway_listen, 1.0))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=20))
        yield Gateway(url, client, on_desk, deps.stopping)
