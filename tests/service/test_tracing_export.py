"""Spans of two processes' worth of work arrive at a collector as one trace."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from horde.rpc.client import Neighbour
from horde.rpc.server import Service, serving
from horde.settings import GrpcSettings, TelemetrySettings
from horde.telemetry import tracing
from tests.fakes.collector import Collector, collecting

NAME = "horde_test.Echo"
CODEC = (StringValue.FromString, StringValue.SerializeToString)


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that this process exports to."""
    with collecting() as (kept, endpoint):
        tracing.configure(TelemetrySettings(otlp_endpoint=endpoint), "test")
        yield kept
        tracing.shutdown()


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
    assert {told.service for told in collector.told} == {"horde-test"}
    spans = {told.name: told.span for told in collector.told}
    assert set(spans) == {"request", "call echo.Say", "echo.Say", "inside"}
    assert len({span.trace_id for span in spans.values()}) == 1
    assert spans["call echo.Say"].parent_span_id == spans["request"].span_id
    assert spans["echo.Say"].parent_span_id == spans["call echo.Say"].span_id
    assert spans["inside"].parent_span_id == spans["echo.Say"].span_id


async def test_a_failed_span_tells_the_type_and_not_a_word_of_the_exception(collector: Collector) -> None:
    with pytest.raises(ValueError, match="a prompt"), tracing.span("fails"):
        raise ValueError("a prompt")
    await asyncio.to_thread(tracing.shutdown)
    (told,) = collector.told
    assert told.span.status.code == told.span.status.STATUS_CODE_ERROR
    assert told.attributes == {"error.type": "ValueError"}
    assert b"a prompt" not in told.span.SerializeToString()


async def test_without_an_endpoint_a_span_costs_no_object() -> None:
    assert tracing.span("a") is tracing.span("b", size=3)
    assert not tracing.enabled()
