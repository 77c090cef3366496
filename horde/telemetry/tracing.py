"""One trace across all services.

Every call carries a W3C `traceparent`, whether or not traces are exported, so a log line can always be followed
from the gateway to the last service. Spans exist only when an OTLP endpoint is set; without one, `span` returns
one shared object that does nothing, and nothing is allocated on a call.

A span that fails is marked with the type of its exception and nothing else: a message may quote a prompt.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from horde.settings import TelemetrySettings

type Attribute = str | int | float | bool | Sequence[str]

_TRACE_ID = slice(3, 35)
"""Where the trace id stands in `00-<32 hex>-<16 hex>-<2 hex>`."""

_TRACEPARENT_LENGTH = 55

_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_propagator = TraceContextTextMapPropagator()


class Span(Protocol):
    """What the code may do to a span."""

    def set_attribute(self, key: str, value: Attribute) -> None:
        """Adds a fact. Never a prompt, a reply, an address or a key."""
        ...


class _NoSpan(AbstractContextManager[Span]):
    """The span of a process that exports no traces."""

    __slots__ = ()

    def __enter__(self) -> Span:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def set_attribute(self, key: str, value: Attribute) -> None:
        """Does nothing."""


_NO_SPAN = _NoSpan()
_NOTHING: Mapping[str, Attribute] = {}


class _Switch:
    """Whether this process exports traces; set once by `configure`, before anything is served."""

    tracer: trace.Tracer | None = None
    shutdown: Callable[[], None] | None = None


def configure(settings: TelemetrySettings, service: str) -> None:
    """Starts the export of traces when an endpoint is set; a second call replaces the first."""
    shutdown()
    if settings.otlp_endpoint is None:
        return
    from horde.telemetry import export  # noqa: PLC0415 - only who exports pays half a second for loading the SDK

    provider = export.to_collector(settings.otlp_endpoint, service, settings.trace_ratio)
    _Switch.tracer, _Switch.shutdown = provider.get_tracer("horde"), provider.shutdown


def shutdown() -> None:
    """Sends what is still waiting and stops exporting. Blocks for at most the exporter's own time-out."""
    stop, _Switch.shutdown, _Switch.tracer = _Switch.shutdown, None, None
    if stop is not None:
        stop()


def enabled() -> bool:
    """Whether spans are recorded. Guards work that only a span needs."""
    return _Switch.tracer is not None


def span(name: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """A span around a `with` block, child of the current one."""
    tracer = _Switch.tracer
    if tracer is None:
        return _NO_SPAN
    return _Recorded(tracer, name, SpanKind.INTERNAL, attributes)


def client_span(name: str, attributes: Mapping[str, Attribute] = _NOTHING) -> AbstractContextManager[Span]:
    """A span around a call to another process; attributes by their names in the semantic conventions."""
    tracer = _Switch.tracer
    if tracer is None:
        return _NO_SPAN
    return _Recorded(tracer, name, SpanKind.CLIENT, attributes)


def server_span(name: str, traceparent: str | None, **attributes: Attribute) -> AbstractContextManager[Span]:
    """A span around the work for another process, child of the span that `traceparent` names."""
    tracer = _Switch.tracer
    if tracer is None:
        return _NO_SPAN
    parent = _propagator.extract({"traceparent": traceparent}) if traceparent else None
    return _Recorded(tracer, name, SpanKind.SERVER, attributes, parent)


class _Recorded(AbstractContextManager[Span]):
    """A span of a process that exports traces."""

    __slots__ = ("_open",)

    def __init__(
        self,
        tracer: trace.Tracer,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Attribute],
        parent: Context | None = None,
    ) -> None:
        # What the SDK would record of an exception by itself is its message and its traceback.
        self._open = tracer.start_as_current_span(
            name,
            context=parent,
            kind=kind,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )

    def __enter__(self) -> Span:
        return self._open.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None and issubclass(kind, Exception):
            current = trace.get_current_span()
            current.set_attribute("error.type", kind.__name__)
            current.set_status(StatusCode.ERROR)
        self._open.__exit__(kind, error, at)


def mark(**ids: str | Iterable[object]) -> None:
    """Puts ids on the current span, if one is recorded: `mark(request_id=…)` is the attribute `horde.request_id`."""
    if _Switch.tracer is None:
        return
    current = trace.get_current_span()
    for name, value in ids.items():
        current.set_attribute(f"horde.{name}", value if isinstance(value, str) else [*map(str, value)])


def new_traceparent() -> str:
    """A trace that starts here. Marked as not recorded: a recorded one is made by the tracer."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"


def adopt(traceparent: str | None, request_id: str | None = None) -> None:
    """Makes this task part of the caller's trace and request."""
    if traceparent is not None and len(traceparent) == _TRACEPARENT_LENGTH:
        _traceparent.set(traceparent)
    if request_id is not None:
        _request_id.set(request_id)


def outgoing() -> tuple[tuple[str, str], ...]:
    """The metadata that makes a neighbour part of this trace."""
    parent = _traceparent.get()
    if _Switch.tracer is not None:
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        parent = carrier.get("traceparent", parent)
    request = _request_id.get()
    if parent is None:
        return () if request is None else (("x-request-id", request),)
    return (("traceparent", parent),) if request is None else (("traceparent", parent), ("x-request-id", request))


def trace_id() -> str:
    """The id a log line and a masked fault carry: 32 hex digits. Starts a trace when there is none."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        return f"{context.trace_id:032x}"
    parent = _traceparent.get()
    if parent is None:
        parent = new_traceparent()
        _traceparent.set(parent)
    return parent[_TRACE_ID]


def known_ids() -> Mapping[str, str]:
    """The trace and request id of this task, as far as it has them. For log lines."""
    ids: dict[str, str] = {}
    context = trace.get_current_span().get_span_context()
    parent = _traceparent.get()
    if context.is_valid:
        ids["trace_id"] = f"{context.trace_id:032x}"
    elif parent is not None:
        ids["trace_id"] = parent[_TRACE_ID]
    request = _request_id.get()
    if request is not None:
        ids["request_id"] = request
    return ids


def request_id() -> str | None:
    """The id of the HTTP request this task serves, if it serves one."""
    return _request_id.get()
