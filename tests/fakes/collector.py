"""A collector of traces: keeps every span that services export to it."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as otlp
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as otlp_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_ARRIVES_SECONDS = 30


@dataclass(frozen=True)
class Told:
    """One span, and the service that told it (`horde-gateway`)."""

    service: str
    span: Span

    @property
    def name(self) -> str:
        return self.span.name

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Strings, and lists of strings, by name."""
        return {
            item.key: [one.string_value for one in item.value.array_value.values]
            if item.value.HasField("array_value")
            else item.value.string_value
            for item in self.span.attributes
        }


class Collector(otlp_grpc.TraceServiceServicer):
    """Keeps what is sent to it, in the order it came."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.raw: list[bytes] = []
        self._lock = threading.Lock()

    def Export(self, request: Any, context: Any) -> Any:
        with self._lock:
            self.raw.append(request.SerializeToString())
            for resource in request.resource_spans:
                names = {item.key: item.value.string_value for item in resource.resource.attributes}
                self.told += [
                    Told(names["service.name"], span) for scope in resource.scope_spans for span in scope.spans
                ]
        return otlp.ExportTraceServiceResponse()

    def trace(self, trace_id: str) -> list[Told]:
        """The spans of one trace that have arrived."""
        with self._lock:
            return [told for told in self.told if told.span.trace_id.hex() == trace_id]

    def whole(self, trace_id: str, *names: str) -> list[Told]:
        """The trace, once spans of these names and the parents of all have arrived. Raises TimeoutError."""

        def is_whole(spans: list[Told]) -> bool:
            here = {told.span.span_id for told in spans}
            orphans = [told for told in spans if told.span.parent_span_id not in here]
            return set(names) <= {told.name for told in spans} and len(orphans) == 1

        return self._once(lambda: self.trace(trace_id), is_whole, f"{names} in {trace_id}")

    def _once(self, read: Callable[[], list[Told]], fits: Callable[[list[Told]], bool], what: str) -> list[Told]:
        end = time.monotonic() + _ARRIVES_SECONDS
        while not fits(found := read()):
            if time.monotonic() > end:
                raise TimeoutError(f"{what}; arrived: {[(told.service, told.name) for told in found]}")
            time.sleep(0.05)
        return found


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    """A collector, and the address that OTEL_EXPORTER_OTLP_ENDPOINT takes."""
    kept = Collector()
    server = grpc.server(ThreadPoolExecutor(4))
    otlp_grpc.add_TraceServiceServicer_to_server(kept, server)  # type: ignore[no-untyped-call]  # shipped without stubs
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield kept, f"http://127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
