"""Calls to the addresses that text requests name: each is told of every stored reply. base-domain 3.12.

Best effort by the reference: a short queue in the process that stored the reply, a few tries, and then it is forgotten;
a client that misses a call finds the reply in the status. Receivers are strangers' servers: they are reached through
the checked door of `horde.public_web`, a redirect is not followed, and of an answer only its status is read.
"""

import asyncio
from functools import partial
from time import perf_counter
from uuid import UUID

import httpx

from horde.contract.limits import WEBHOOK_ATTEMPTS, WEBHOOK_QUEUE, WEBHOOK_SECONDS
from horde.public_web import NO_ANSWER, NotAskedError, PublicWeb, public_url
from services.dispatch.aftermath import Aftermath
from services.dispatch.events import webhooks as events

_AT_ONCE = 64
"""Calls side by side. A silent receiver holds one for nine seconds, so seven of them a second delay nobody else."""

_MOST_BYTES = 64 * 1024 * 1024
"""What the process keeps for receivers at most: one reply may be half as large, and a queue of those is not kept."""

_HEADERS = ((b"Content-Type", b"application/json"), (b"Accept-Encoding", b"identity"))
_SUCCESS = range(200, 300)


class Webhooks:
    """The calls that wait and those under way. One for the process."""

    def __init__(self, web: PublicWeb) -> None:
        self._web = web
        self._calls = Aftermath(capacity=WEBHOOK_QUEUE, runners=_AT_ONCE)
        self._bytes = 0

    def start(self) -> None:
        """Begins to call. Call it inside the event loop that serves."""
        self._calls.start()

    async def drain(self, within: float) -> None:
        """Gives the calls that wait up to `within` seconds; the rest is forgotten."""
        await self._calls.drain(within)

    def call(self, webhook: str, generation: UUID, body: bytes) -> None:
        """Has `webhook` told soon. Never raises and never waits; what finds no place is counted and forgotten."""
        if self._bytes + len(body) > _MOST_BYTES:
            events.ended("dropped", str(generation), why="too many bytes wait")
        elif self._calls.enqueue("webhook", partial(self._deliver, webhook, generation, body)):
            self._bytes += len(body)
        else:
            events.ended("dropped", str(generation), why="too many calls wait")

    async def _deliver(self, webhook: str, generation: UUID, body: bytes) -> None:
        try:
            why = await self._tell(webhook, body)
        except NotAskedError as error:  # another try would find the same
            why = str(error)
        finally:
            self._bytes -= len(body)
        events.ended("giveup" if why else "ok", str(generation), why=why)

    async def _tell(self, webhook: str, body: bytes) -> str:
        """Why the last try failed; empty when one did not. Raises NotAskedError."""
        url, why = public_url(webhook), ""
        for number in range(1, WEBHOOK_ATTEMPTS + 1):
            why = await self._try(number, url, body)
            if not why:
                break
        return why

    async def _try(self, number: int, url: httpx.URL, body: bytes) -> str:
        """Why this try failed; empty when it did not. Raises NotAskedError."""
        started = perf_counter()
        try:
            async with (
                asyncio.timeout(WEBHOOK_SECONDS),
                self._web.ask("POST", url, _HEADERS, step_seconds=WEBHOOK_SECONDS, content=body) as answer,
            ):
                status = answer.status
        except NO_ANSWER as error:
            events.tried(number, "exception", perf_counter() - started, status=None)
            return type(error).__name__
        is_taken = status in _SUCCESS
        events.tried(number, "ok" if is_taken else "http_error", perf_counter() - started, status=status)
        return "" if is_taken else f"status {status}"
