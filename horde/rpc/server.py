"""The life of a service process: start, listen, announce, serve, drain, end."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

import grpc
import uvloop
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from horde import collecting
from horde.failures import StartError
from horde.rpc import options, tls
from horde.rpc.handling import Registrar, Surroundings
from horde.rpc.loops import Loop, LoopRunner
from horde.rpc.probes import Check, Readiness, announce, probes
from horde.settings import GrpcSettings, TelemetrySettings
from horde.telemetry import logs, tracing

__all__ = ["Loop", "Running", "Service", "StartError", "run", "serve", "serving", "stop_signal"]

log = logs.get(__name__)

_STORES_SHARE = 1.0
"""Seconds of the drain that are left for closing stores and flushing traces after the last call has ended."""

_BAD_START = 2
"""The exit code of a process that could not start. 1 is Python's own, for a crash."""


@dataclass(frozen=True, slots=True)
class Service:
    """What is served. `add` is generated code with the servicer bound; `proto_name` is its name in the proto."""

    name: str
    add: Callable[[grpc.aio.Server], None]
    proto_name: str


async def serve(
    service: Service,
    settings: GrpcSettings,
    *,
    ready: Mapping[str, Check],
    loops: Sequence[Loop] = (),
    leaving: Sequence[Callable[[], None]] = (),
    stop: asyncio.Event | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT (or until `stop`, when given), then drains and returns within `drain_seconds`.

    `leaving` is called when the drain begins: what calls wait for, beside their own work, ends there.

    Configures logs and traces when the settings are TelemetrySettings too, as every service's are. Prints nothing. The
    real addresses go to `settings.address_file`. Raises StartError when a port is taken.
    """
    telemetry: object = settings
    if isinstance(telemetry, TelemetrySettings):
        logs.configure(telemetry, service.name)
        tracing.configure(telemetry, service.name)
    readiness = Readiness(ready)
    runner = LoopRunner(loops)
    stop = stop or stop_signal()
    async with serving(service, settings) as running, probes(settings.metrics_listen, readiness) as metrics:
        runner.start()
        collecting.settle()
        announce(settings.address_file, {"grpc": running.address, "metrics": metrics})
        log.info("serving", grpc=running.address, metrics=metrics)
        await stop.wait()
        ends_at = monotonic() + max(settings.drain_seconds - _STORES_SHARE, 0.0)
        log.info("draining", seconds=settings.drain_seconds)
        readiness.stopping = True
        await running.leave()
        for end in leaving:
            end()
        await running.drain(ends_at)
        await runner.stop(ends_at - monotonic())
    log.info("stopped")
    await asyncio.to_thread(tracing.shutdown)


def run(main: Coroutine[Any, Any, None]) -> int:
    """Runs a service on uvloop; gives the exit code. What the operator must mend is one message on stderr."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main)
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return _BAD_START
    except KeyboardInterrupt:
        # Ctrl-C before `serve` listens for it: nothing has begun, so nothing has to end.
        return 0
    return 0


def stop_signal() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, instead of ending the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens on `address`."""

    server: grpc.aio.Server
    around: Surroundings
    health: health.aio.HealthServicer
    address: str

    async def leave(self) -> None:
        """Tells callers to turn to other replicas, and serves on until they have heard it."""
        await self.health.enter_graceful_shutdown()
        await asyncio.sleep(options.LEAVING_SECONDS)

    async def drain(self, ends_at: float) -> None:
        """Takes no new calls, ends streams, and lets calls under way finish until `ends_at` on the monotonic clock."""
        self.around.end_streams()
        await self.server.stop(max(ends_at - monotonic(), 0.0))


@asynccontextmanager
async def serving(service: Service, settings: GrpcSettings) -> AsyncIterator[Running]:
    """A listening server while the block runs: what `serve` adds signals, loops and probes to, and tests nothing.

    Raises StartError when the port is taken, or certificates are set that cannot be used.
    """
    server = grpc.aio.server(options=options.SERVER)
    around = Surroundings(service.name, tls.Callers.of(settings))
    service.add(cast("grpc.aio.Server", Registrar(server, around)))
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    names = (service.proto_name, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    for name in ("", service.proto_name):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    host = settings.grpc_listen.rpartition(":")[0]
    files = tls.Files.of(settings)
    shown = None if files is None else tls.server_credentials(files)
    try:
        port = (
            server.add_insecure_port(settings.grpc_listen)
            if shown is None
            else server.add_secure_port(settings.grpc_listen, shown)
        )
    except RuntimeError as error:
        raise StartError(f"cannot listen on {settings.grpc_listen}; is the port taken? choose another") from error
    await server.start()
    try:
        yield Running(server, around, checks, f"{host}:{port}")
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await server.stop(0)
