"""The connection to Redis or Valkey: a bounded pool, short time-outs, and a retry that survives a reset."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Self

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from horde.failures import Outage
from horde.live.addresses import connections
from horde.settings import RedisSettings
from horde.telemetry import tracing

RESET_CONNECTION = (AttributeError, RuntimeError)
"""What a write to a connection that was reset while idle raises instead of a ConnectionError: AttributeError
from CPython 3.12.1 and 3.13.0 (cpython#136234), RuntimeError from uvloop. redis-py's own retry lets both pass."""

_NO_WRITES = ("MISCONF ", "NOREPLICAS ")
"""How an answer begins by which Redis takes no writes now: its disk is full, or it has lost its replicas."""

UNREACHABLE = (RedisConnectionError, RedisTimeoutError, ReadOnlyError, ConnectionError, TimeoutError)
"""What says that Redis cannot answer now. ReadOnlyError: it became a replica while we were connected."""

TOLD = {"db.system.name": "redis"}
"""What every span of a command tells."""


class LiveUnavailable(Outage):
    """Redis cannot be reached, or did not answer in time. What was asked may or may not have happened."""

    def __init__(self, detail: str) -> None:
        super().__init__("redis", detail)


def retry_policy() -> Retry:
    """Three more tries on a fresh connection within about 0.3 s; a time-out is not retried.

    A command whose answer was lost with its connection may so run twice. Every script must be safe to run twice
    in a row, which it has to be anyway: the caller of a call that failed repeats it too.
    """
    return Retry(ExponentialBackoff(cap=0.2, base=0.02), 3, supported_errors=(RedisConnectionError,))


class Live:
    """An open door to Redis. `redis` speaks bytes; reach it through `guard` or a `Script`."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: RedisSettings) -> AsyncIterator[Self]:
        """A pool that connects when first used, so Redis may be down at the start."""
        async with connections(
            settings.redis_url,
            most=settings.redis_pool_size,
            wait_seconds=settings.redis_timeout_seconds,
            socket_timeout=settings.redis_timeout_seconds,
            socket_connect_timeout=settings.redis_timeout_seconds,
            socket_keepalive=True,
            decode_responses=False,
            retry=retry_policy(),
            retry_on_error=list(RESET_CONNECTION),
        ) as redis:
            yield cls(redis)

    @contextmanager
    def guard(self, what: str | None) -> Iterator[Redis]:
        """`with live.guard("GET") as redis: await redis.get(…)`. Raises LiveUnavailable for an outage.

        `what` is what a trace calls it, never a key or a value; None: it is work for many traces, and in none.
        """
        try:
            if what is None:
                yield self.redis
            else:
                with tracing.client_span(f"redis {what}", TOLD):
                    yield self.redis
        except UNREACHABLE as error:
            raise LiveUnavailable(f"{type(error).__name__}: {error}") from error
        except ResponseError as error:
            # Only the type: the message of a pipeline quotes the command.
            if isinstance(error, OutOfMemoryError) or str(error).startswith(_NO_WRITES):
                raise LiveUnavailable(type(error).__name__) from error
            raise
        except RESET_CONNECTION as error:
            # The retry has been through three fresh connections already; any other error of these types is a bug.
            if is_reset(error):
                raise LiveUnavailable("the connection was reset") from error
            raise

    async def ping(self) -> None:
        """Raises LiveUnavailable unless Redis answers."""
        with self.guard("ping") as redis:
            await redis.ping()


def is_reset(error: BaseException) -> bool:
    """Whether an AttributeError or RuntimeError is the disguise of a connection that was reset."""
    text = str(error)
    return "_add_writer" in text or "closed=True" in text or "TCPTransport closed" in text
