"""Whoever waits for a webhook: an HTTPS server on this machine, with a certificate of an authority of its own."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, override

import trustme

from horde.public_web import PublicWeb, Resolve


@dataclass
class Receiver:
    """What it was told, and how it answers: `statuses` after `pauses` (seconds) to the next calls, then 200 at once."""

    place: str
    authority: trustme.CA
    told: list[dict[str, Any]] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    @property
    def url(self) -> str:
        """A webhook of its own, with a secret."""
        return f"https://{self.place}/hooks/1?token=a-secret"

    @property
    def tls(self) -> ssl.SSLContext:
        """Trusts it and nobody else."""
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context

    def web(self, *allowed: str, resolve: Resolve | None = None) -> PublicWeb:
        """The web as a service sees it that trusts this receiver's certificate and may call these private places."""
        return PublicWeb(allowed, resolve=resolve, tls=self.tls)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver, until the block ends."""
    server = _Server(("127.0.0.1", 0), _Call)
    place = f"localhost:{server.server_port}"
    server.receiver = Receiver(place, trustme.CA())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.receiver.authority.issue_cert("localhost", "127.0.0.1", "receiver.test").configure_cert(tls)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    receiver: Receiver

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that leaves early is none of its business."""


class _Call(BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        receiver.asked.append(f"{self.command} {self.path}")
        receiver.heads.append({name.lower(): value for name, value in self.headers.items()})
        status = receiver.statuses.pop(0) if receiver.statuses else 200
        if receiver.pauses:
            time.sleep(receiver.pauses.pop(0))
        if status < 300:
            receiver.told.append(json.loads(body))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if 300 <= status < 400:
            self.send_header("Location", f"https://{receiver.place}/elsewhere")
        self.end_headers()

    do_GET = do_POST = _answer  # noqa: N815 - the base class asks for these names

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""
