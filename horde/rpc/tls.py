"""Who is at the other end: certificates from files for both ends of a channel, read again when they change.

A certificate's name is the name of the service it was made for, whatever address that listens on: a caller demands the
name of the service it calls, a service lets in the names on its list. Both must come from the one authority.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Self, cast, override

import grpc

from horde.failures import StartError
from horde.settings import GrpcSettings, TlsSettings
from horde.telemetry import logs

log = logs.get(__name__)

_LOOK_SECONDS = 10.0
"""How often a caller looks whether the files have changed. A certificate is renewed days before its end."""

_OLD_CHANNEL_SECONDS = 3600.0
"""How long calls under way may go on over the connections of the certificate before: longer than any stream lasts."""

type Method = Callable[..., Any]


class NotOurs(Exception):
    """The caller's certificate is good, and its name is not on the list. The message says whose it is."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What one end shows and what it believes in, as PEM."""

    certificate: bytes
    key: bytes
    authority: bytes


class Files:
    """The three files of one process."""

    def __init__(self, certificate: Path, key: Path, authority: Path) -> None:
        self._paths = (certificate, key, authority)
        self._seen: object = None

    @classmethod
    def of(cls, settings: TlsSettings) -> "Files | None":
        """The files that the settings name; None: TLS is off."""
        paths = (settings.tls_cert_file, settings.tls_key_file, settings.tls_ca_file)
        certificate, key, authority = paths
        return None if certificate is None or key is None or authority is None else cls(certificate, key, authority)

    def read(self) -> Identity:
        """What the files hold now. Raises StartError when one is missing or they do not fit together."""
        try:
            seen = self._look()
            self._prove()
            certificate, key, authority = (path.read_bytes() for path in self._paths)
        except (OSError, ssl.SSLError) as error:
            names = ", ".join(str(path) for path in self._paths)
            raise StartError(f"the certificate, its key or its authority cannot be used ({names}): {error}") from error
        self._seen = seen
        return Identity(certificate, key, authority)

    def renewed(self) -> Identity | None:
        """What the files hold, when it is not what was read before; None also while they cannot be used."""
        try:
            return None if self._look() == self._seen else self.read()
        except (OSError, StartError) as error:
            # Half written, most likely. What was read before goes on until the files are whole.
            log.warning("new certificate not usable", why=str(error))
            return None

    def _look(self) -> object:
        states = [path.stat() for path in self._paths]
        return [(each.st_ino, each.st_mtime_ns, each.st_size) for each in states]

    def _prove(self) -> None:
        certificate, key, authority = self._paths
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(authority)


def server_credentials(files: Files) -> grpc.ServerCredentials:
    """What a server listens with: its own certificate, and the demand for one from every caller.

    The files are looked at before each handshake. Raises StartError when they cannot be used.
    """

    def configuration(identity: Identity) -> grpc.ServerCertificateConfiguration:
        pair = (identity.key, identity.certificate)
        return grpc.ssl_server_certificate_configuration([pair], identity.authority)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        renewed = files.renewed()
        return None if renewed is None else configuration(renewed)

    # The stubs know only fetchers that always find something new.
    return grpc.dynamic_ssl_server_credentials(
        configuration(files.read()), cast("Any", fetch), require_client_authentication=True
    )


class Callers:
    """The names that a service lets in."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(name.encode() for name in names)

    @classmethod
    def of(cls, settings: GrpcSettings) -> "Callers | None":
        """The list of the settings; None: TLS is off, so that callers have no names.

        Raises StartError for an empty list: a service that nobody may call is a mistake.
        """
        if Files.of(settings) is None:
            return None
        if not settings.tls_allowed_callers:
            raise StartError("HORDE_TLS_ALLOWED_CALLERS is not set, and with HORDE_TLS_CERT_FILE nobody could call")
        return cls(settings.tls_allowed_callers)

    def check(self, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Raises NotOurs unless the certificate of this call's connection has a name on the list."""
        names = list(context.auth_context().get("peer_dns", ()))
        if self._names.isdisjoint(names):
            shown = ", ".join(name.decode("utf-8", "replace") for name in names)
            raise NotOurs(f"{shown or 'a certificate without a name'} may not call this service")


def secure_channel(
    files: Files, target: str, neighbour: str, options: Sequence[tuple[str, int | str]]
) -> grpc.aio.Channel:
    """A channel to `target` that shows our certificate and accepts only one for `neighbour`.

    Raises StartError when the files cannot be used.
    """
    named = (*options, ("grpc.ssl_target_name_override", neighbour))

    def connect(identity: Identity) -> grpc.aio.Channel:
        shown = grpc.ssl_channel_credentials(identity.authority, identity.key, identity.certificate)
        return grpc.aio.secure_channel(target, shown, options=named)

    return _RenewedChannel(files, connect)


class _RenewedChannel(grpc.aio.Channel):
    """A channel that follows its certificate: gRPC's own keeps the one it was made with for ever.

    When the files change, new calls take a new channel, and the old one is closed once its calls have ended.
    """

    def __init__(self, files: Files, connect: Callable[[Identity], grpc.aio.Channel]) -> None:
        self._files = files
        self._connect = connect
        self._channel = connect(files.read())
        self._look_at = monotonic() + _LOOK_SECONDS
        self._old: dict[asyncio.Task[None], grpc.aio.Channel] = {}

    def current(self) -> grpc.aio.Channel:
        """The channel for a call that begins now."""
        if monotonic() >= self._look_at:
            self._look_at = monotonic() + _LOOK_SECONDS
            renewed = self._files.renewed()
            if renewed is not None:
                task = asyncio.create_task(self._channel.close(_OLD_CHANNEL_SECONDS), name="old channel")
                self._old[task] = self._channel
                task.add_done_callback(self._old.pop)
                self._channel = self._connect(renewed)
                log.info("certificate renewed")
        return self._channel

    @override
    def unary_unary(self, method: str, *codec: Any, **more: Any) -> Any:
        return _LatestMethod(self, method, lambda channel: channel.unary_unary(method, *codec, **more))

    @override
    def unary_stream(self, method: str, *codec: Any, **more: Any) -> Any:
        return _LatestMethod(self, method, lambda channel: channel.unary_stream(method, *codec, **more))

    @override
    def stream_unary(self, method: str, *codec: Any, **more: Any) -> Any:
        return _LatestMethod(self, method, lambda channel: channel.stream_unary(method, *codec, **more))

    @override
    def stream_stream(self, method: str, *codec: Any, **more: Any) -> Any:
        return _LatestMethod(self, method, lambda channel: channel.stream_stream(method, *codec, **more))

    @override
    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self.current().get_state(try_to_connect)

    @override
    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._channel.wait_for_state_change(last_observed_state)

    @override
    async def channel_ready(self) -> None:
        await self.current().channel_ready()

    @override
    async def close(self, grace: float | None = None) -> None:
        for task, channel in tuple(self._old.items()):
            task.cancel()
            await channel.close(grace)
        await self._channel.close(grace)

    @override
    async def __aenter__(self) -> Self:
        return self

    @override
    async def __aexit__(self, *_ended: object) -> None:
        await self.close()


class _LatestMethod:
    """One method of the channel that is current when it is called."""

    def __init__(self, owner: _RenewedChannel, method: str, make: Callable[[grpc.aio.Channel], Method]) -> None:
        self._owner = owner
        self._method = method
        self._make = make
        self._of: grpc.aio.Channel | None = None
        self._call: Method | None = None

    def __call__(self, request: Any, **how: Any) -> Any:
        channel = self._owner.current()
        if self._call is None or channel is not self._of:
            self._of, self._call = channel, self._make(channel)
        return self._call(request, **how)
