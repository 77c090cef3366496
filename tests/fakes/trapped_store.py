"""An object store behind a door that stops one call of a kind, before it gets in or before its answer gets out."""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

_PATIENCE_SECONDS = 60.0
_CONTINUE = b"HTTP/1.1 100"


@dataclass(eq=False)
class Trap:
    """Stops the first call of this method that comes; whoever waits for `reached` then decides when to `release` it."""

    method: bytes
    when: Literal["before", "after"]
    reached: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def spring(self) -> None:
        """Holds the calling thread until the trap is released."""
        self.reached.set()
        self.released.wait(_PATIENCE_SECONDS)


class TrappedStore:
    """Forwards `endpoint` to the store. Traps are set one at a time, each for one call."""

    def __init__(self, store: str) -> None:
        parts = urlsplit(store)
        self._store = (parts.hostname or "", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._trap: Trap | None = None
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in list(self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for each in self._sockets:
            each.close()

    def trap(self, method: bytes, when: Literal["before", "after"]) -> Trap:
        """Stops the next call of this method."""
        self._trap = Trap(method, when)
        return self._trap

    def _start(self, work: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                upstream = socket.create_connection(self._store)
            except OSError:
                return
            self._sockets |= {client, upstream}
            held: list[Trap] = []
            self._start(self._questions, client, upstream, held)
            self._start(self._answers, client, upstream, held)

    def _questions(self, client: socket.socket, upstream: socket.socket, held: list[Trap]) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                trap = self._sprung_by(data)
                if trap is not None and trap.when == "before":
                    trap.spring()
                elif trap is not None:
                    held.append(trap)
                upstream.sendall(data)
            upstream.shutdown(socket.SHUT_WR)

    def _answers(self, client: socket.socket, upstream: socket.socket, held: list[Trap]) -> None:
        with contextlib.suppress(OSError):
            while data := upstream.recv(1 << 16):
                if held and not data.startswith(_CONTINUE):
                    held.pop().spring()
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)

    def _sprung_by(self, data: bytes) -> Trap | None:
        with self._lock:
            trap = self._trap
            if trap is None or not data.startswith(trap.method + b" "):
                return None
            self._trap = None
            return trap
