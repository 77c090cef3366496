"""How one service calls another: a deadline on every call, retries only where declared, refusals as refusals."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from datetime import timedelta
from time import perf_counter
from typing import Any, Protocol

import grpc

from horde.failures import Outage
from horde.rpc import deadlines, options, refusals, tls
from horde.settings import TlsSettings
from horde.telemetry import tracing
from horde.telemetry.metrics import SECONDS, Counter, Histogram, Timings

_CLIENT_SECONDS = Histogram(
    "horde_rpc_client_seconds",
    "Time of one try of a call, as its caller sees it.",
    ("neighbour", "method", "code"),
    buckets=SECONDS,
)
_RETRIES = Counter("horde_rpc_client_retries_total", "Tries beyond the first.", ("neighbour", "method"))

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 0.5
"""Seconds between tries: a restarting replica leaves the load balancer's list well within the second."""

_RECONNECT_SECONDS = 1.0
"""How long a call waits while there is no connection: a neighbour that has just come back is tried once more, and when
the only replica leaves, the next one is found behind its name."""


class NeighbourUnavailable(Outage):
    """A neighbour did not answer: unreachable, too slow, stopping, or a fault there. `code` is the gRPC status."""

    def __init__(self, neighbour: str, detail: str, code: str) -> None:
        super().__init__(neighbour, detail)
        self.neighbour = neighbour
        self.code = code


class UnaryCall[Req, Resp](Protocol):
    """A method of a generated stub that answers once."""

    def __call__(
        self, request: Req, /, *, timeout: float | None = ..., metadata: Any = ..., wait_for_ready: bool = ...
    ) -> Awaitable[Resp]: ...


class StreamCall[Req, Resp](Protocol):
    """A method of a generated stub that answers with a stream."""

    def __call__(
        self, request: Req, /, *, timeout: float | None = ..., metadata: Any = ..., wait_for_ready: bool = ...
    ) -> AsyncIterable[Resp]: ...


class Neighbour:
    """One channel to one service, connected when first used; encrypted when the settings name certificates.

    Raises StartError for certificates that cannot be used.
    """

    def __init__(self, target: str, *, name: str, settings: TlsSettings | None = None) -> None:
        self.name = name
        files = None if settings is None else tls.Files.of(settings)
        self.channel: grpc.aio.Channel = (
            grpc.aio.insecure_channel(target, options=options.CLIENT)
            if files is None
            else tls.secure_channel(files, target, name, options.CLIENT)
        )

    async def close(self) -> None:
        """Ends the calls under way and the connections."""
        await self.channel.close()

    def once[Req, Resp](self, call: UnaryCall[Req, Resp], *, deadline: timedelta) -> Callable[[Req], Awaitable[Resp]]:
        """A call that is never repeated: it changes something and carries no key that would make a repeat harmless.

        Raises Refusal, or NeighbourUnavailable, after which the change may have happened.
        """
        attempt = self._attempt(call)
        seconds = deadline.total_seconds()

        async def made(request: Req) -> Resp:
            return await attempt(request, deadlines.shrink(seconds))

        return made

    def repeatable[Req, Resp](
        self, call: UnaryCall[Req, Resp], *, deadline: timedelta, tries: int = 3
    ) -> Callable[[Req], Awaitable[Resp]]:
        """A call that is repeated while the neighbour is UNAVAILABLE, `tries` times in all, inside one deadline.

        Raises Refusal or NeighbourUnavailable.
        """
        attempt = self._attempt(call)
        seconds = deadline.total_seconds()
        retries = _RETRIES.labels(self.name, _method(call))

        async def made(request: Req) -> Resp:
            ends_at = perf_counter() + deadlines.shrink(seconds)
            for number in range(1, tries + 1):
                try:
                    return await attempt(request, ends_at - perf_counter())
                except NeighbourUnavailable as away:
                    pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**number) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
                    if away.code != "UNAVAILABLE" or number == tries or perf_counter() + pause >= ends_at:
                        raise
                retries.inc()
                await asyncio.sleep(pause)
            raise AssertionError("the last try returns or raises")

        return made

    def stream[Req, Resp](
        self, call: StreamCall[Req, Resp], *, deadline: timedelta | None
    ) -> Callable[[Req], AsyncGenerator[Resp]]:
        """A call that answers with a stream; `deadline` None: as long as the caller listens. Never repeated.

        Leaving the loop early cancels it (close the iterator: `async with aclosing(…)`). Raises like `once`.
        """
        timings = Timings(_CLIENT_SECONDS, self.name, _method(call))
        span_name = f"call {self.name}.{_method(call)}"

        async def made(request: Req) -> AsyncGenerator[Resp]:
            ready = await self._connected(_RECONNECT_SECONDS)
            timeout = None if deadline is None else self._in_time(deadlines.shrink(deadline.total_seconds()))
            started = perf_counter()
            code = "CANCELLED"
            with tracing.client_span(span_name):
                running = call(request, timeout=timeout, metadata=tracing.outgoing(), wait_for_ready=ready)
            try:
                async for message in running:
                    yield message
                code = "OK"
            except grpc.aio.AioRpcError as error:
                code = error.code().name
                raise self._meaning(error) from error
            finally:
                cancel = getattr(running, "cancel", None)
                if code == "CANCELLED" and cancel is not None:
                    cancel()
                timings.observe(code, perf_counter() - started)

        return made

    def _attempt[Req, Resp](self, call: UnaryCall[Req, Resp]) -> Callable[[Req, float], Awaitable[Resp]]:
        """One try, timed and traced, its failure in our words."""
        method = _method(call)
        timings = Timings(_CLIENT_SECONDS, self.name, method)
        span_name = f"call {self.name}.{method}"

        async def attempt(request: Req, seconds: float) -> Resp:
            ends_at = perf_counter() + self._in_time(seconds)
            ready = await self._connected(seconds / 2)
            timeout = self._in_time(ends_at - perf_counter())
            started = perf_counter()
            code = "CANCELLED"
            try:
                with tracing.client_span(span_name):
                    answer = await call(request, timeout=timeout, metadata=tracing.outgoing(), wait_for_ready=ready)
                code = "OK"
                return answer
            except grpc.aio.AioRpcError as error:
                code = error.code().name
                raise self._meaning(error) from error
            finally:
                timings.observe(code, perf_counter() - started)

        return attempt

    async def _connected(self, patience: float) -> bool:
        """Waits for a connection, and says whether there is one.

        Without one gRPC fails every call unsent, also when the next try would find one. Where there was one just now,
        a call may wait for the next: that it is lost in this very moment is the way in which a replica leaves.
        """
        ends_at = perf_counter() + min(patience, _RECONNECT_SECONDS)
        while (state := self.channel.get_state(try_to_connect=True)) is not grpc.ChannelConnectivity.READY:
            if state is grpc.ChannelConnectivity.SHUTDOWN:
                return False
            try:
                async with asyncio.timeout(ends_at - perf_counter()):
                    await self.channel.wait_for_state_change(state)
            except TimeoutError:
                return False
        return True

    def _in_time(self, seconds: float) -> float:
        if seconds <= 0:
            raise NeighbourUnavailable(self.name, "no time was left to ask", "DEADLINE_EXCEEDED")
        return seconds

    def _meaning(self, error: grpc.aio.AioRpcError) -> Exception:
        refusal = refusals.unpack(error)
        if refusal is not None:
            return refusal
        return NeighbourUnavailable(self.name, f"{error.code().name}: {error.details()}", error.code().name)


def _method(call: object) -> str:
    """The RPC's name, for metrics. The generated stub keeps its path, as bytes, where only gRPC itself looks for it."""
    path = getattr(call, "_method", b"")
    text = path.decode() if isinstance(path, bytes) else str(path)
    return text.rpartition("/")[2] or getattr(call, "__name__", "unknown")
