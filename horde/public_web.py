"""Asking a web server that a stranger names, without letting the stranger reach anything that is not public.

A name is resolved once; every address it has must be public; the connection goes to one of exactly these addresses,
while Host and the TLS name stay those of the URL. A redirect is an answer like any other: whoever follows one asks
anew, through the same door. Nothing of the environment is used: no proxy, no cookie, no credential.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cached_property
from ssl import SSLContext
from typing import Any, override

import httpcore
import httpx

from horde.contract.public_addresses import is_public

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_LONGEST_URL = 8192
_LOOKUPS = 32
"""Names that are looked up at once: a name server that does not answer holds a thread for half a minute."""

type Resolve = Callable[[str, int], Awaitable[list[str]]]
"""A host name and a port to every address of the name."""

type Header = tuple[bytes, bytes]

NO_ANSWER = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, TimeoutError)
"""What asking raises when a server is not reached, is too slow or does not speak HTTP."""


class NotAskedError(Exception):
    """A URL or its host may not be asked. The message says why, as a sentence that goes on after "not fetched"."""


def public_url(text: str, *, relative_to: httpx.URL | None = None) -> httpx.URL:
    """A URL that may be asked, as far as its words tell. Raises NotAskedError."""
    try:
        url = httpx.URL(text) if relative_to is None else relative_to.join(text)
        host = url.raw_host
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise NotAskedError("it is not a valid URL") from error
    if url.scheme not in _PORTS or not host:
        raise NotAskedError("only http and https addresses with a host are fetched")
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        raise NotAskedError("its port does not exist")
    if url.userinfo:
        raise NotAskedError("it holds credentials")
    if len(text) > _LONGEST_URL:
        raise NotAskedError(f"it is longer than {_LONGEST_URL} characters")
    return url


class PublicWeb:
    """The door to the web. One for the process; each call has a connection of its own."""

    def __init__(
        self,
        allowed: Iterable[str],
        *,
        resolve: Resolve | None = None,
        network: httpcore.AsyncNetworkBackend | None = None,
        tls: SSLContext | None = None,
    ) -> None:
        """`allowed`: host:port pairs that may be asked although private.

        `resolve`, `network` and `tls` are the machine's own unless a test brings an internet of its own.
        """
        self._backend = _CheckedBackend(allowed, resolve or _Names().resolve, network or httpcore.AnyIOBackend())
        self._given_tls = tls

    @asynccontextmanager
    async def ask(
        self, method: str, url: httpx.URL, headers: Sequence[Header], *, step_seconds: float, content: bytes = b""
    ) -> AsyncIterator[httpcore.Response]:
        """The answer's head; its body is read from it, as far as it is wanted.

        `step_seconds`: for each of connecting, writing and one read. Raises NotAskedError, and what NO_ANSWER lists.
        """
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        steps = dict.fromkeys(("connect", "read", "write", "pool"), step_seconds)
        written = [(b"Host", url.netloc), (b"User-Agent", b"chat-horde"), *headers]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls, network_backend=self._backend, max_connections=1
            ) as pool,
            pool.stream(method, target, headers=written, content=content, extensions={"timeout": steps}) as answer,
        ):
            yield answer

    @cached_property
    def _tls(self) -> SSLContext:
        # Made when it is first needed: it reads all authorities of the machine.
        return self._given_tls or httpcore.default_ssl_context()


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to public addresses only. What was checked is what is connected to."""

    def __init__(self, allowed: Iterable[str], resolve: Resolve, network: httpcore.AsyncNetworkBackend) -> None:
        self._allowed = frozenset(host.lower() for host in allowed)
        self._resolve = resolve
        self._network = network

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve(host, port)
        except ValueError as error:  # an empty label, one of 64 letters: no name server can be asked
            raise NotAskedError("its host is not a name") from error
        if f"{host.lower()}:{port}" not in self._allowed and not all(is_public(address) for address in addresses):
            raise NotAskedError("its host is not on the public internet")
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    @override
    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise NotAskedError("its host is not on the public internet")

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Names:
    """The machine's resolver, in threads of its own.

    The event loop's few could all wait for silent name servers of strangers, and with them whoever connects to a store.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_LOOKUPS, "names")

    async def resolve(self, host: str, port: int) -> list[str]:
        """Every address of a name, asked once."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _addresses, host.strip("[]"), port)
        return list(dict.fromkeys(found))


def _addresses(host: str, port: int) -> list[str]:
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in entries]
