"""Watching requests: one pub/sub connection of the process wakes every watch, and each reads its own stream on.

Two tasks share the connection: one reads it, one (un)subscribes. Neither knows a watch's pace, so a slow one
delays nobody.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from horde.live import Live, LiveUnavailable
from horde.live.addresses import connections
from horde.settings import RedisSettings
from horde.telemetry import logs
from horde.telemetry.metrics import Gauge
from services.progress.live.keys import SIGNALS, STREAM, WAKE
from services.progress.live.together import Together
from services.progress.rules import feed

log = logs.get(__name__)

_WATCHED = Gauge("horde_progress_watched_requests", "Requests that somebody follows in this process.")

PAGE = 200
"""Entries of one stream in one read: a whole reply at two posts a second, and a bound on the memory of a replay."""

KEPT_SIGNALS = 64
"""Signals a watch keeps unread. A request has a few; of a flood the newest count, since they say how it ended."""

SUBSCRIBE_SECONDS = 5.0
"""How long a caller waits for its subscription before it is told that Redis is away."""

RECONNECT_SECONDS = 0.25
PING_SECONDS = 10.0
"""The pause before a new connection, and how long one may be silent before it is asked whether it lives; silent for
as long again, it is dead."""

_CONNECTIONS = 2
"""The one that listens, and a second while a broken one is still being closed."""

_HOLD = "horde:progress:hold"
"""A channel nobody publishes on: redis-py reads only from a connection that has a subscription."""

_SIGNALS_PREFIX = SIGNALS(request="").encode()
_WAKE_PREFIX = WAKE(request="").encode()


class Watch:
    """One watcher of one request. `events` may be walked once."""

    def __init__(self, request_id: str, together: Together, subscribe_seconds: float) -> None:
        self.request_id = request_id
        self.is_active = asyncio.Event()
        self._together = together
        self._subscribe_seconds = subscribe_seconds
        self._woken = asyncio.Event()
        self._signals: deque[feed.Signal] = deque(maxlen=KEPT_SIGNALS)
        self._last = b"0"

    def wake(self, signal: feed.Signal | None = None) -> None:
        """There may be something to read."""
        if signal is not None:
            self._signals.append(signal)
        self._woken.set()

    async def events(self) -> AsyncGenerator[feed.Event, None]:
        """`Subscribed`, then everything on the stream, then what comes. Ends only with its caller.

        Raises LiveUnavailable when no subscription is to be had at the start; later outages are waited out.
        """
        try:
            async with asyncio.timeout(self._subscribe_seconds):
                await self.is_active.wait()
        except TimeoutError:
            raise LiveUnavailable("no subscription within the time") from None
        yield feed.Subscribed()
        while True:
            self._woken.clear()
            # Taken before the stream is read: what was posted before a signal is then told before it.
            known = len(self._signals)
            async for entry in self._entries():
                yield entry
            for _ in range(min(known, len(self._signals))):
                yield self._signals.popleft()
            await self._woken.wait()

    async def _entries(self) -> AsyncIterator[feed.Piece | feed.Ended]:
        """What stands on the stream after the last entry that was told."""
        stream = STREAM(request=self.request_id)
        while True:
            try:
                page = await self._together.ask("XRANGE", stream, b"(" + self._last, "+", "COUNT", PAGE)
            except LiveUnavailable:
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            for number, fields in page:
                self._last = number
                yield feed.read_entry(fields)
            if len(page) < PAGE:
                return


class Watching:
    """All watches of this process."""

    def __init__(self, live: Live, redis: Redis, subscribe_seconds: float) -> None:
        self._redis = redis
        self._subscribe_seconds = subscribe_seconds
        self._together = Together(live)
        self._watches: dict[str, set[Watch]] = {}
        self._changed = asyncio.Event()
        self._asked: set[str] = set()
        self._unconfirmed: dict[str, int] = {}

    @classmethod
    @asynccontextmanager
    async def open(
        cls, live: Live, settings: RedisSettings, *, subscribe_seconds: float = SUBSCRIBE_SECONDS
    ) -> AsyncIterator["Watching"]:
        """Watches can be made while the block runs; Redis may be down at the start and in between."""
        # No retries: whoever notices that the connection broke makes a new one and subscribes again.
        async with connections(
            settings.redis_url,
            most=_CONNECTIONS,
            wait_seconds=settings.redis_timeout_seconds,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=settings.redis_timeout_seconds,
            socket_timeout=settings.redis_timeout_seconds,
            socket_keepalive=True,
        ) as redis:
            watching = cls(live, redis, subscribe_seconds)
            _WATCHED.set_function(lambda: len(watching._watches))
            task = asyncio.create_task(watching._keep_connected(), name="watching")
            try:
                yield watching
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    @contextmanager
    def watch(self, request_id: str) -> Iterator[Watch]:
        """A watch while the block runs. Leaving awaits nothing, so a caller that vanished leaves no trace."""
        watch = Watch(request_id, self._together, self._subscribe_seconds)
        self._watches.setdefault(request_id, set()).add(watch)
        if request_id in self._asked and not self._unconfirmed.get(request_id):
            watch.is_active.set()
        self._changed.set()
        try:
            yield watch
        finally:
            others = self._watches[request_id]
            others.discard(watch)
            if not others:
                del self._watches[request_id]
                self._changed.set()

    async def _keep_connected(self) -> None:
        is_away = False
        while True:
            pubsub = self._redis.pubsub()
            try:
                await pubsub.subscribe(_HOLD)
                if is_away:
                    log.info("redis is back", watches=len(self._watches))
                is_away = False
                await self._serve(pubsub)
            except Exception as error:  # noqa: BLE001 - whatever broke the connection, the cure is a new one
                if not is_away:
                    log.warning("redis is away", watches=len(self._watches), why=f"{type(error).__name__}: {error}")
                is_away = True
            finally:
                self._asked.clear()
                self._unconfirmed.clear()
                with contextlib.suppress(Exception):
                    await pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py forgot its return type
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _serve(self, pubsub: PubSub) -> None:
        """Reads and steers until the connection breaks; raises what broke it."""
        self._changed.set()
        silences = 0
        steering = asyncio.create_task(self._steer(pubsub), name="watching: subscriptions")
        try:
            while not steering.done():
                message = await pubsub.get_message(timeout=PING_SECONDS)
                if message is not None:
                    silences = 0
                    self._take(message)
                    continue
                silences += 1
                if silences > 1:
                    raise ConnectionError("no answer to a ping")
                await pubsub.ping()
            await steering
        finally:
            steering.cancel()
            await asyncio.gather(steering, return_exceptions=True)

    async def _steer(self, pubsub: PubSub) -> None:
        """Keeps the subscriptions equal to the watches, many at a time."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            wanted = self._watches.keys()
            gone = self._asked - wanted
            new = wanted - self._asked
            if gone:
                self._asked -= gone
                await pubsub.unsubscribe(*_channels(gone))
            if new:
                self._asked |= new
                for request_id in new:
                    self._unconfirmed[request_id] = self._unconfirmed.get(request_id, 0) + 1
                await pubsub.subscribe(*_channels(new))

    def _take(self, message: dict[str, Any]) -> None:
        channel: bytes = message["channel"] or b""
        if channel.startswith(_WAKE_PREFIX):
            request_id = channel.removeprefix(_WAKE_PREFIX).decode()
            if message["type"] == "subscribe":
                self._confirm(request_id)
            if message["type"] in {"subscribe", "message"}:
                for watch in self._watches.get(request_id, ()):
                    watch.wake()
        elif message["type"] == "message" and channel.startswith(_SIGNALS_PREFIX):
            signal = feed.read_signal(message["data"])
            for watch in self._watches.get(channel.removeprefix(_SIGNALS_PREFIX).decode(), ()):
                watch.wake(signal)

    def _confirm(self, request_id: str) -> None:
        """The wake channel is asked for after the signals, so its confirmation is that of both.

        Of a request that was left and taken up again in one breath, only the last confirmation counts.
        """
        left = self._unconfirmed.get(request_id, 1) - 1
        if left > 0:
            self._unconfirmed[request_id] = left
            return
        self._unconfirmed.pop(request_id, None)
        if request_id in self._asked:
            for watch in self._watches.get(request_id, ()):
                watch.is_active.set()


def _channels(request_ids: set[str]) -> list[str]:
    return [key(request=one) for one in sorted(request_ids) for key in (SIGNALS, WAKE)]
