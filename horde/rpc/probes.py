"""What a process tells its surroundings over HTTP: /metrics, /healthz and /readyz, on a port of its own."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest

from horde.failures import StartError

type Check = Callable[[], Awaitable[None]]

_CHECK_SECONDS = 2.0
"""A store that takes longer to answer a ping is not ready; Kubernetes' own probe gives up after a second or more."""


class Readiness:
    """Whether this process should get traffic: every check passes, and it is not on its way out."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = dict(checks)
        self.stopping = False

    async def failing(self) -> dict[str, str]:
        """The checks that fail, and why; empty: ready."""
        if self.stopping:
            return {"process": "stopping"}
        results = await asyncio.gather(*(self._try(check) for check in self._checks.values()))
        return {name: why for name, why in zip(self._checks, results, strict=True) if why is not None}

    @staticmethod
    async def _try(check: Check) -> str | None:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await check()
        except TimeoutError:
            return f"no answer within {_CHECK_SECONDS} s"
        except Exception as error:  # noqa: BLE001 - any failure of a check means "not ready", and says why
            return f"{type(error).__name__}: {error}"
        return None


@asynccontextmanager
async def probes(listen: str, readiness: Readiness) -> AsyncIterator[str]:
    """Serves the three addresses while the block runs; gives the URL of /metrics.

    Raises StartError when the port is taken.
    """
    sock = bind(listen)
    server = _QuietServer(
        uvicorn.Config(
            _App(readiness), log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
        )
    )
    task = asyncio.create_task(server.serve(sockets=[sock]), name="probes")
    host, port = sock.getsockname()[:2]
    try:
        yield f"http://{host}:{port}/metrics"
    finally:
        server.should_exit = True
        await task
        sock.close()


def bind(listen: str) -> socket.socket:
    """A listening socket for `host:port`. Raises StartError when the port is taken or the host is not ours."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Only for the minute after a restart: a port in use by a listener stays refused.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, int(port)))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise StartError(f"cannot listen on {listen} ({error.strerror}); is the port taken? choose another") from error
    return sock


def announce(path: Path | None, addresses: Mapping[str, object]) -> None:
    """Writes the real addresses and the process id to `path`, all at once; None: nobody asked."""
    if path is None:
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps({**addresses, "pid": os.getpid()}), encoding="utf-8")
    draft.replace(path)


class _QuietServer(uvicorn.Server):
    """uvicorn without its signal handlers: this process decides itself when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _App:
    """The three answers, as a bare ASGI application."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        del receive
        match scope["path"]:
            case "/metrics":
                await _answer(send, 200, generate_latest(REGISTRY), CONTENT_TYPE_LATEST)
            case "/healthz":
                await _answer(send, 200, b'{"status":"alive"}')
            case "/readyz":
                failing = await self._readiness.failing()
                body = {"status": "not ready", "failing": failing} if failing else {"status": "ready"}
                await _answer(send, 503 if failing else 200, json.dumps(body).encode())
            case _:
                await _answer(send, 404, b'{"message":"only /metrics, /healthz and /readyz are here"}')


async def _answer(send: Any, status: int, body: bytes, content_type: str = "application/json") -> None:
    headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    with contextlib.suppress(OSError):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
