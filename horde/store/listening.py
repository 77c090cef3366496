"""A connection of its own that hears what Postgres is told to tell: LISTEN, kept up across outages.

A pooler in transaction mode loses LISTEN without a word, so the URL has to lead to Postgres itself.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg

from horde.failures import Outage
from horde.store.errors import CLOSED
from horde.store.queries import Query
from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge

log = logs.get(__name__)

_LISTENING = Gauge("horde_store_listening", "1 while messages of Postgres are heard.", ("channel",))
_HEARD = Counter("horde_store_messages_total", "Messages of Postgres heard.", ("channel",))

_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 1.0
_PROBE_SECONDS = 15.0
"""How often an idle connection is tried: a peer that vanished without a word is noticed then."""

_PING = Query.load("horde.store", "ping")

ADDRESS_STANDINGS = "address_standings"
"""The channel on which moderation tells that an address was put out or let in: what others remember of it is old."""

type Heard = Callable[[str], None]


class Listener:
    """Hears one channel while `opened` runs."""

    def __init__(self, url: str, channel: str, heard: Heard, began: Callable[[], Awaitable[None]]) -> None:
        self.is_listening = False
        self._url = url
        self._channel = channel
        self._heard = heard
        self._began = began

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, url: str, channel: str, heard: Heard, began: Callable[[], Awaitable[None]]
    ) -> AsyncIterator["Listener"]:
        """Calls `heard` with each message, and `began` whenever listening began: what was told before was missed."""
        listener = cls(url, channel, heard, began)
        task = asyncio.create_task(listener._keep_listening(), name=f"listen {channel}")
        try:
            yield listener
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, Outage) as away:
                log.warning("not listening", channel=self._channel, why=f"{type(away).__name__}: {away}")
            except Exception:
                log.exception("fault", channel=self._channel)
            finally:
                self.is_listening = False
                _LISTENING.labels(self._channel).set(0)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _listen(self) -> None:
        """Until the connection is gone."""
        connection = await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS, statement_cache_size=0)
        try:
            gone = asyncio.Event()
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(self._channel, self._on_message)
            self.is_listening = True
            _LISTENING.labels(self._channel).set(1)
            await self._began()
            while not gone.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_PROBE_SECONDS):
                        await gone.wait()
                        return
                await connection.execute(_PING.sql, timeout=_CONNECT_SECONDS)
        finally:
            with contextlib.suppress(*CLOSED, TimeoutError):
                connection.terminate()

    def _on_message(self, connection: object, pid: int, channel: str, payload: object) -> None:
        del connection, pid
        _HEARD.labels(channel).inc()
        try:
            self._heard(str(payload))
        except Exception:
            log.exception("fault", channel=channel)
