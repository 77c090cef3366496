"""Where Redis is: one server, or whichever server a group of Sentinels says is the primary now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool

SENTINEL = "redis+sentinel"
_SENTINEL_PORT = 26379


@dataclass(frozen=True, slots=True)
class Sentinels:
    """`redis+sentinel://[user:password@]host:port,host:port/NAME?db=0`: the login is that of the servers.

    Sentinels that want a password of their own get it by `sentinel_password=` in the query.
    """

    hosts: tuple[tuple[str, int], ...]
    name: str
    login: dict[str, str]
    sentinel_login: dict[str, str]
    database: int

    @classmethod
    def read(cls, url: str) -> "Sentinels":
        """Raises ValueError for an address that names no host or no primary."""
        parts = urlsplit(url)
        login, _, hosts = parts.netloc.rpartition("@")
        user, _, password = login.partition(":")
        query = dict(parse_qsl(parts.query))
        name = parts.path.strip("/")
        if not hosts or not name or "/" in name:
            raise ValueError("wanted: redis+sentinel://:password@host:port,host:port/NAME")
        known = {"username": unquote(user), "password": unquote(password)}
        sentinel_password = query.get("sentinel_password")
        return cls(
            hosts=tuple(_host_and_port(host) for host in hosts.split(",")),
            name=name,
            login={key: value for key, value in known.items() if value},
            sentinel_login={} if sentinel_password is None else {"password": sentinel_password},
            database=int(query.get("db", "0")),
        )


class _PrimaryPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary; who finds all of them busy waits, as with a single server."""


def with_database(url: str, database: int) -> str:
    """The same Redis, another logical database."""
    parts = urlsplit(url)
    # redis-py takes the number from the path, and from `db` in the query first.
    query = urlencode({**dict(parse_qsl(parts.query)), "db": str(database)})
    match parts.scheme:
        case "unix":
            # Not by urlunsplit: it leaves out the two slashes of an empty host, and redis-py insists on them.
            return f"unix://{parts.netloc}{parts.path}?{query}"
        case scheme if scheme == SENTINEL:
            return urlunsplit(parts._replace(query=query))
        case _:
            return urlunsplit(parts._replace(path=f"/{database}", query=query))


@asynccontextmanager
async def connections(url: str, *, most: int, wait_seconds: float, **options: Any) -> AsyncIterator[Redis]:
    """A client with at most `most` connections, made when first used; `options` are redis-py's, for each of them."""
    if not url.startswith(f"{SENTINEL}://"):
        pool = BlockingConnectionPool.from_url(url, max_connections=most, timeout=wait_seconds, **options)
        redis = Redis.from_pool(pool)
        try:
            yield redis
        finally:
            await redis.aclose()
        return
    told = Sentinels.read(url)
    timeouts = {key: value for key, value in options.items() if key.startswith("socket_")}
    # redis-py forgot the types of both.
    sentinel: Any = cast("Any", Sentinel)(told.hosts, sentinel_kwargs={**timeouts, **told.sentinel_login})
    primary: Any = cast("Any", _PrimaryPool)(
        told.name,
        sentinel,
        max_connections=most,
        timeout=wait_seconds,
        db=told.database,
        **told.login,
        **options,
    )
    redis = Redis.from_pool(primary)
    try:
        yield redis
    finally:
        await redis.aclose()
        await sentinel.aclose()


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port:
        return text.strip("[]"), _SENTINEL_PORT
    return host.strip("[]"), int(port)
