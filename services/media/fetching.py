"""Fetching an image that a stranger names, without letting the stranger reach anything that is not public.

A name is resolved once; every address it has must be public; the connection goes to one of exactly these addresses,
while Host and the TLS name stay those of the URL. Each redirect goes through the same door. Nothing of the
environment is used: no proxy, no cookie, no credential.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any, override

import httpcore
import httpx

from horde.contract import reasons
from horde.contract.limits import IMAGE_FETCH_SECONDS, IMAGE_FETCH_STEP_SECONDS, MAX_IMAGE_REDIRECTS
from horde.contract.refusal import Refusal
from services.media.rules.public_addresses import is_public
from services.media.settings import MediaSettings

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_OK = 200
_REDIRECTS = (301, 302, 303, 307, 308)
_LONGEST_URL = 8192
_HEADERS = [(b"User-Agent", b"chat-horde"), (b"Accept", b"image/*"), (b"Accept-Encoding", b"identity")]
_STEPS = {
    "timeout": {
        "connect": IMAGE_FETCH_STEP_SECONDS,
        "read": IMAGE_FETCH_STEP_SECONDS,
        "write": IMAGE_FETCH_STEP_SECONDS,
        "pool": IMAGE_FETCH_STEP_SECONDS,
    }
}
_FAILED = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, TimeoutError)


type Resolve = Callable[[str, int], Awaitable[list[str]]]
"""A host name and a port to every address of the name."""


class _NotPublicError(Exception):
    """The host has an address that is not on the public internet."""


class PublicFetcher:
    """Gets images by URL. One for the process; each fetch has connections of its own."""

    def __init__(
        self,
        settings: MediaSettings,
        *,
        resolve: Resolve | None = None,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        """`resolve` and `network` are the machine's own unless a test brings an internet of its own."""
        self._backend = _CheckedBackend(
            settings.image_fetch_allowed_hosts, resolve or _resolved, network or httpcore.AnyIOBackend()
        )
        self._tls = httpcore.default_ssl_context()
        self._turns = asyncio.Semaphore(settings.media_fetches)

    async def fetch_public_image(self, url: str, number: int, *, max_bytes: int) -> bytes:
        """The body of a 200 answer, cut one byte above `max_bytes`; `number` is the image's, for messages.

        Raises Refusal: SourceImageUrlRefused for an address that may not be asked, SourceImageUrlInvalid for one that
        does not answer with an image in time.
        """
        async with self._turns:
            try:
                async with asyncio.timeout(IMAGE_FETCH_SECONDS):
                    return await self._follow(url, number, max_bytes)
            except _NotPublicError as error:
                raise _refused(number, "its host is not on the public internet") from error
            except _FAILED as error:
                raise _invalid(number, "it did not answer properly in time") from error

    async def _follow(self, url: str, number: int, max_bytes: int) -> bytes:
        target = _parsed(url, number)
        for _ in range(MAX_IMAGE_REDIRECTS + 1):
            answer = await self._get(target, max_bytes)
            if isinstance(answer, bytes):
                return answer
            status, location = answer
            if status not in _REDIRECTS or location is None:
                raise _invalid(number, f"it answered with status {status}")
            target = _parsed(location, number, relative_to=target)
        raise _invalid(number, f"it redirected more than {MAX_IMAGE_REDIRECTS} times")

    async def _get(self, url: httpx.URL, max_bytes: int) -> bytes | tuple[int, str | None]:
        """The body of a 200, or the status and the Location of anything else."""
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls, network_backend=self._backend, max_connections=1
            ) as pool,
            pool.stream("GET", target, headers=[(b"Host", url.netloc), *_HEADERS], extensions=dict(_STEPS)) as answer,
        ):
            if answer.status != _OK:
                headers = {name.lower(): value for name, value in answer.headers}
                location = headers.get(b"location")
                return answer.status, None if location is None else location.decode("latin-1")
            body = bytearray()
            async with aclosing(answer.aiter_stream()) as chunks:  # type: ignore[type-var]  # httpcore types it without aclose, which it has
                async for chunk in chunks:
                    body += chunk
                    if len(body) > max_bytes:
                        break
            return bytes(body[: max_bytes + 1])


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
        addresses = await self._resolve(host, port)
        if f"{host.lower()}:{port}" not in self._allowed and not all(is_public(address) for address in addresses):
            raise _NotPublicError(host)
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
        raise _NotPublicError(path)

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _resolved(host: str, port: int) -> list[str]:
    """Every address of a name, asked once."""
    async with asyncio.timeout(IMAGE_FETCH_STEP_SECONDS):
        found = await asyncio.get_running_loop().getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _parsed(text: str, number: int, *, relative_to: httpx.URL | None = None) -> httpx.URL:
    """A URL that may be asked. Raises Refusal (SourceImageUrlRefused)."""
    try:
        url = httpx.URL(text) if relative_to is None else relative_to.join(text)
        host = url.raw_host
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise _refused(number, "it is not a valid URL") from error
    if url.scheme not in _PORTS or not host:
        raise _refused(number, "only http and https addresses with a host are fetched")
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        raise _refused(number, "its port does not exist")
    if url.userinfo:
        raise _refused(number, "it holds credentials")
    if len(text) > _LONGEST_URL:
        raise _refused(number, f"it is longer than {_LONGEST_URL} characters")
    return url


def _refused(number: int, why: str) -> Refusal:
    return Refusal(reasons.SOURCE_IMAGE_URL_REFUSED, f"Image {number}: the URL is not fetched: {why}.")


def _invalid(number: int, why: str) -> Refusal:
    return Refusal(reasons.SOURCE_IMAGE_URL_INVALID, f"Image {number}: the URL cannot be fetched: {why}.")
