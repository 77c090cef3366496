"""What surrounds every handler: the deadline, the trace, the clock, and what becomes of an exception.

Handlers are wrapped once, when a service registers them, not by gRPC's interceptors: those look the handler up and
wrap it again on every single call.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import grpc

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc import deadlines, refusals
from horde.rpc.tls import Callers, NotOurs
from horde.telemetry import logs, tracing
from horde.telemetry.metrics import SECONDS, Counter, Gauge, Histogram, Timings

log = logs.get(__name__)

_SERVER_SECONDS = Histogram(
    "horde_rpc_server_seconds", "Time a handler took to answer.", ("service", "method", "code"), buckets=SECONDS
)
_STREAMS = Gauge("horde_rpc_server_streams", "Streams being served now.", ("service", "method"))
_REFUSALS = Counter("horde_rpc_refusals_total", "Expected refusals, by reason.", ("service", "method", "reason"))
_FAULTS = Counter("horde_rpc_faults_total", "Bugs: exceptions nobody expected.", ("service", "method"))

type Context = grpc.aio.ServicerContext[Any, Any]
type Unary = Callable[[Any, Context], Awaitable[Any]]
type Streaming = Callable[[Any, Context], AsyncIterator[Any]]
type Handler = grpc.RpcMethodHandler[Any, Any]

_GOING_AWAY = "this server is stopping; call again"

_IDS = ("request_id", "generation_id", "generation_ids")
"""Fields of messages that traces are searched by."""


def faulted(service: str, method: str, error: BaseException) -> None:
    """Counts and logs a bug. Handlers call it for one that must not end their call."""
    _FAULTS.labels(service, method).inc()
    log.error("fault", method=method, exc_info=error)


class Surroundings:
    """Wraps the handlers of one service. `callers`: who may call them; None: whoever reaches the port."""

    def __init__(self, service: str, callers: Callers | None = None) -> None:
        self._service = service
        self._callers = callers
        self._draining = False
        self._streams: set[asyncio.Task[Any]] = set()

    def end_streams(self) -> None:
        """Ends every stream with UNAVAILABLE, so that its caller finds another replica. Unary calls go on.

        A stream lives as long as its request, far longer than a drain may take: ending it at once gives the caller
        all of the drain to move over.
        """
        self._draining = True
        for task in tuple(self._streams):
            task.cancel()

    def wrap(self, method: str, handler: Handler) -> Handler:
        """The same RPC with everything around it. Raises TypeError for a kind of RPC that this system does not use."""
        # The stubs know only the handlers of the blocking server; ours are coroutines.
        if handler.unary_unary is not None:
            unary = cast("Any", self._around_unary(method, cast("Unary", handler.unary_unary)))
            return grpc.unary_unary_rpc_method_handler(unary, handler.request_deserializer, handler.response_serializer)
        if handler.unary_stream is not None:
            stream = cast("Any", self._around_stream(method, cast("Streaming", handler.unary_stream)))
            return grpc.unary_stream_rpc_method_handler(
                stream, handler.request_deserializer, handler.response_serializer
            )
        if handler.stream_stream is not None:
            both = cast("Any", self._around_stream(method, cast("Streaming", handler.stream_stream), marked=False))
            return grpc.stream_stream_rpc_method_handler(
                both, handler.request_deserializer, handler.response_serializer
            )
        raise TypeError(f"{method}: streams of requests with one answer are not used in this system")

    def _around_unary(self, method: str, handler: Unary) -> Unary:
        timings = Timings(_SERVER_SECONDS, self._service, method)
        span_name = f"{self._service}.{method}"

        async def answer(request: Any, context: Context) -> Any:
            started = perf_counter()
            code = "OK"
            traceparent = _adopt(context)
            try:
                if self._callers is not None:
                    self._callers.check(context)
                with tracing.server_span(span_name, traceparent):
                    _mark_ids(request)
                    answered = await handler(request, context)
                    _mark_ids(answered)
                    return answered
            except asyncio.CancelledError:
                code = "CANCELLED"
                raise
            except Exception as error:
                if isinstance(error, grpc.aio.AbortError):
                    raise
                ending = self._ending(method, error)
                code = ending.code.name
                await context.abort(ending.code, ending.message, ending.trailing)
            finally:
                timings.observe(code, perf_counter() - started)

        return answer

    def _around_stream(self, method: str, handler: Streaming, *, marked: bool = True) -> Streaming:
        """`marked`: the request is one message, whose ids the span may name."""
        timings = Timings(_SERVER_SECONDS, self._service, method)
        running = _STREAMS.labels(self._service, method)
        span_name = f"{self._service}.{method}"

        async def answer(request: Any, context: Context) -> AsyncIterator[Any]:
            started = perf_counter()
            code = "OK"
            traceparent = _adopt(context)
            running.inc()
            task = asyncio.current_task()
            if task is not None:
                self._streams.add(task)
            try:
                if self._callers is not None:
                    self._callers.check(context)
                with tracing.server_span(span_name, traceparent):
                    if marked:
                        _mark_ids(request)
                    async for message in handler(request, context):
                        yield message
            except asyncio.CancelledError:
                code = "CANCELLED"
                if not self._draining or task is None:
                    raise
                task.uncancel()
                code = "UNAVAILABLE"
                await context.abort(grpc.StatusCode.UNAVAILABLE, _GOING_AWAY)
            except Exception as error:
                if isinstance(error, grpc.aio.AbortError):
                    raise
                ending = self._ending(method, error)
                code = ending.code.name
                await context.abort(ending.code, ending.message, ending.trailing)
            finally:
                if task is not None:
                    self._streams.discard(task)
                running.dec()
                timings.observe(code, perf_counter() - started)

        return answer

    def _ending(self, method: str, error: Exception) -> "_Ending":
        """What the caller is told of an exception; what the operator is told is logged and counted here, once."""
        if isinstance(error, Refusal):
            _REFUSALS.labels(self._service, method, error.reason.key).inc()
            return _Ending(*refusals.pack(error))
        if isinstance(error, Outage):
            log.warning("unavailable", method=method, whom=error.whom, why=error.detail)
            return _Ending(grpc.StatusCode.UNAVAILABLE, f"{error.whom} cannot be reached")
        if isinstance(error, NotOurs):
            log.warning("caller refused", method=method, why=str(error))
            return _Ending(grpc.StatusCode.PERMISSION_DENIED, str(error))
        faulted(self._service, method, error)
        return _Ending(grpc.StatusCode.INTERNAL, f"internal error, trace {tracing.trace_id()}")


@dataclass(frozen=True, slots=True)
class _Ending:
    code: grpc.StatusCode
    message: str
    trailing: tuple[tuple[str, bytes], ...] = ()


class Registrar:
    """Stands where a service registers its handlers, and wraps each of them on its way to the server."""

    def __init__(self, server: grpc.aio.Server, around: Surroundings) -> None:
        self._server = server
        self._around = around

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Generated code registers each handler twice; the second way is the one that can be wrapped."""

    def add_registered_method_handlers(self, service_name: str, handlers: Mapping[str, Handler]) -> None:
        """Called by generated code with every handler of a service, by name."""
        wrapped = {method: self._around.wrap(method, handler) for method, handler in handlers.items()}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service_name, wrapped),))
        self._server.add_registered_method_handlers(service_name, wrapped)


def _mark_ids(message: Any) -> None:
    """The span of a call names the request and the generations that its message names."""
    if tracing.enabled():
        fields = message.DESCRIPTOR.fields_by_name
        found = {name: getattr(message, name) for name in _IDS if name in fields}
        tracing.mark(**{name: value for name, value in found.items() if value})


def _adopt(context: Context) -> str | None:
    """Takes the caller's deadline, trace and request over into this task."""
    deadlines.adopt(context.time_remaining())
    traceparent: str | None = None
    request_id: str | None = None
    for key, value in context.invocation_metadata() or ():
        if key == "traceparent":
            traceparent = str(value)
        elif key == "x-request-id":
            request_id = str(value)
    tracing.adopt(traceparent, request_id)
    return traceparent
