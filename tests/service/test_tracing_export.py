"""Spans of two processes' worth of work arrive at a collector as one trace."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as otlp
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as otlp_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from horde.rpc.client import Neighbour
from horde.rpc.server import Service, serving
from horde.settings import GrpcSettings, TelemetrySettings
from horde.telemetry import tracing

NAME = "horde_test.Echo"
CODEC = (StringValue.FromString, StringValue.SerializeToString)


class Collector(otlp_grpc.TraceServiceServicer):
    """Keeps what is sent to it."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self.services: set[str] = set()

    def Export(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 - the proto's names
        for resource in request.resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            self.services.add(names["service.name"])
            for scope in resource.scope_spans:
                self.spans |= {span.name: span for span in scope.spans}
        return otlp.ExportTraceServiceResponse()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that this process exports to."""
    kept = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    otlp_grpc.add_TraceServiceServicer_to_server(kept, server)  # type: ignore[no-untyped-call]  # shipped without stubs
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    tracing.configure(TelemetrySettings(otlp_endpoint=f"http://127.0.0.1:{port}"), "test")
    yield kept
    tracing.shutdown()
    server.stop(0).wait()


def add(server: grpc.aio.Server) -> None:
    async def say(request: StringValue, _context: object) -> StringValue:
        with tracing.span("inside", size=3):
            return request

    handlers = {"Say": grpc.unary_unary_rpc_method_handler(cast("Any", say), *CODEC)}
    server.add_registered_method_handlers(NAME, handlers)


async def test_one_call_is_one_trace(collector: Collector) -> None:
    async with serving(Service("echo", add, NAME), GrpcSettings()) as running:
        neighbour = Neighbour(running.address, name="echo")
        stub = neighbour.channel.unary_unary(f"/{NAME}/Say", CODEC[1], CODEC[0])
        with tracing.span("request"):
            await neighbour.once(stub, deadline=timedelta(seconds=5))(StringValue())
        await neighbour.close()
    await asyncio.to_thread(tracing.shutdown)
    assert collector.services == {"horde-test"}
    spans = collector.spans
    assert set(spans) == {"request", "call echo.Say", "echo.Say", "inside"}
    assert len({span.trace_id for span in spans.values()}) == 1
    assert spans["call echo.Say"].parent_span_id == spans["request"].span_id
    assert spans["echo.Say"].parent_span_id == spans["call echo.Say"].span_id
    assert spans["inside"].parent_span_id == spans["echo.Say"].span_id


async def test_without_an_endpoint_a_span_costs_no_object() -> None:
    assert tracing.span("a") is tracing.span("b", size=3)
    assert not tracing.enabled()
