"""The RPC runtime between a real server and a real client, with a service whose answers the test decides."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import grpc
import httpx
import orjson
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage, StartError
from horde.rpc import deadlines
from horde.rpc.client import Neighbour, NeighbourUnavailable, StreamCall, UnaryCall
from horde.rpc.server import Service, serve, serving
from horde.settings import GrpcSettings, TelemetrySettings
from horde.telemetry import logs, tracing
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1 import progress_service_pb2_grpc as pb_grpc

AMPLE = timedelta(seconds=20)  # for an answer that comes at once, also on a busy machine
NAME = "horde_test.Echo"

type Answer = Callable[[StringValue], Awaitable[None]]


class Scripted:
    """Does on `Say` what the test says; `Watch` says one thing and then nothing until its caller leaves."""

    def __init__(self, answer: Answer) -> None:
        self.calls = 0
        self.stream_ended = asyncio.Event()
        self._answer = answer

    async def say(self, request: StringValue, _context: object) -> StringValue:
        self.calls += 1
        await self._answer(request)
        return request

    async def watch(self, request: StringValue, _context: object) -> AsyncIterator[StringValue]:
        try:
            yield request
            if request.value == "refuse":
                raise Refusal(reasons.REQUEST_NOT_FOUND, "gone")
            await asyncio.sleep(60)
        finally:
            self.stream_ended.set()

    def add(self, server: grpc.aio.Server) -> None:
        """Registers as generated code does."""
        codec = (StringValue.FromString, StringValue.SerializeToString)
        handlers = {
            "Say": grpc.unary_unary_rpc_method_handler(cast("Any", self.say), *codec),
            "Watch": grpc.unary_stream_rpc_method_handler(cast("Any", self.watch), *codec),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))
        server.add_registered_method_handlers(NAME, handlers)


class Stub:
    """What generated code gives a client."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        codec = (StringValue.SerializeToString, StringValue.FromString)
        self.say: UnaryCall[StringValue, StringValue] = channel.unary_unary(f"/{NAME}/Say", *codec)
        self.watch: StreamCall[StringValue, StringValue] = channel.unary_stream(f"/{NAME}/Watch", *codec)


async def nothing(_request: StringValue) -> None:
    """Answers at once."""


def service(scripted: Scripted) -> Service:
    return Service("echo", scripted.add, NAME)


@asynccontextmanager
async def a_neighbour(scripted: Scripted) -> AsyncIterator[tuple[Neighbour, Stub]]:
    async with serving(service(scripted), GrpcSettings()) as running:
        neighbour = Neighbour(running.address, name="echo")
        yield neighbour, Stub(neighbour.channel)
        await neighbour.close()


async def say(answer: Answer, deadline: timedelta = AMPLE) -> None:
    async with a_neighbour(Scripted(answer)) as (neighbour, stub):
        await neighbour.once(stub.say, deadline=deadline)(StringValue())


async def test_a_refusal_arrives_as_the_same_refusal() -> None:
    async def refuse(_request: StringValue) -> None:
        raise Refusal(reasons.INVALID_JOB_ID, "Job ☃ is unknown", {"job": 7, "names": ["ä", None]}, retry_after=30)

    with pytest.raises(Refusal) as caught:
        await say(refuse)
    assert caught.value.reason is reasons.INVALID_JOB_ID
    assert caught.value.message == "Job ☃ is unknown"
    assert caught.value.facts == {"job": 7, "names": ["ä", None]}
    assert caught.value.retry_after == 30


async def test_a_refusal_too_big_for_the_wire_arrives_clipped() -> None:
    async def refuse(_request: StringValue) -> None:
        raise Refusal(reasons.BAD_REQUEST, "ü" * 20_000, {"huge": "x" * 100_000, "small": 1})

    with pytest.raises(Refusal) as caught:
        await say(refuse)
    assert caught.value.message.startswith("üüü")
    assert caught.value.message.endswith("…")
    assert caught.value.facts == {"small": 1, "clipped": ["huge"]}


async def test_a_refusal_as_big_as_allowed_arrives_whole() -> None:
    facts = {"all": "x" * (32 * 1024 - 10)}

    async def refuse(_request: StringValue) -> None:
        raise Refusal(reasons.BAD_REQUEST, "y" * 8 * 1024, facts)

    with pytest.raises(Refusal) as caught:
        await say(refuse)
    assert caught.value.facts == facts
    assert caught.value.message == "y" * 8 * 1024


async def test_a_reason_this_code_does_not_know_is_still_a_refusal() -> None:
    async def refuse(_request: StringValue) -> None:
        raise Refusal(reasons.Reason("BornTomorrow", "PublicWord", "NOT_FOUND"), "new here")

    with pytest.raises(Refusal) as caught:
        await say(refuse)
    assert caught.value.reason == reasons.Reason("BornTomorrow", "PublicWord", "NOT_FOUND")


async def test_a_fault_is_masked_and_logged_once_with_its_trace(capfd: pytest.CaptureFixture[str]) -> None:
    async def fail(_request: StringValue) -> None:
        raise KeyError("the secret inside")

    logs.configure(TelemetrySettings(), "test")
    tracing.adopt("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")
    with pytest.raises(NeighbourUnavailable) as caught:
        await say(fail)
    assert caught.value.code == "INTERNAL"
    assert "secret" not in str(caught.value)
    assert "trace 0123456789abcdef0123456789abcdef" in caught.value.detail
    lines = [orjson.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    assert [(line["message"], line["method"], line["trace_id"]) for line in lines] == [
        ("fault", "Say", "0123456789abcdef0123456789abcdef")
    ]
    assert "the secret inside" in lines[0]["exception"]


async def test_an_outage_behind_a_service_arrives_as_unavailable() -> None:
    async def fail(_request: StringValue) -> None:
        raise Outage("postgres", "connection refused at 10.0.0.7")

    with pytest.raises(NeighbourUnavailable) as caught:
        await say(fail)
    assert caught.value.code == "UNAVAILABLE"
    assert caught.value.detail == "UNAVAILABLE: postgres cannot be reached"


async def test_a_slow_neighbour_is_unavailable_at_the_deadline() -> None:
    async def sleep(_request: StringValue) -> None:
        await asyncio.sleep(30)

    with pytest.raises(NeighbourUnavailable) as caught:
        await asyncio.wait_for(say(sleep, timedelta(milliseconds=200)), 15)
    assert caught.value.code == "DEADLINE_EXCEEDED"


async def test_the_deadline_shrinks_from_hop_to_hop() -> None:
    left: list[Any] = []

    async def look(_request: StringValue) -> None:
        left.extend((deadlines.left(), deadlines.shrink(60), deadlines.left()))

    await say(look)
    before, shrunk, after = left
    assert 0 < before <= AMPLE.total_seconds()
    assert after - deadlines.OWN_SHARE <= shrunk <= before - deadlines.OWN_SHARE


async def test_a_call_with_no_time_left_is_not_made() -> None:
    scripted = Scripted(nothing)
    async with a_neighbour(scripted) as (neighbour, stub):
        deadlines.adopt(0.01)
        with pytest.raises(NeighbourUnavailable, match="no time was left"):
            await neighbour.once(stub.say, deadline=AMPLE)(StringValue())
        deadlines.adopt(None)
    assert scripted.calls == 0


async def test_only_a_repeatable_call_is_repeated() -> None:
    async def away(_request: StringValue) -> None:
        raise Outage("redis", "gone")

    scripted = Scripted(away)
    async with a_neighbour(scripted) as (neighbour, stub):
        with pytest.raises(NeighbourUnavailable):
            await neighbour.once(stub.say, deadline=AMPLE)(StringValue())
        assert scripted.calls == 1
        with pytest.raises(NeighbourUnavailable):
            await neighbour.repeatable(stub.say, deadline=AMPLE, tries=3)(StringValue())
        assert scripted.calls == 4


async def test_a_repeatable_call_survives_a_restart_of_its_neighbour() -> None:
    scripted = Scripted(nothing)
    async with serving(service(scripted), GrpcSettings()) as first:
        address = first.address
        neighbour = Neighbour(address, name="echo")
        call = neighbour.repeatable(Stub(neighbour.channel).say, deadline=timedelta(seconds=10), tries=30)
        await call(StringValue())
    waiting = asyncio.create_task(asyncio.wait_for(call(StringValue()), 10))
    await asyncio.sleep(0.3)
    async with serving(service(scripted), GrpcSettings(grpc_listen=address)):
        await waiting
    assert scripted.calls == 2
    await neighbour.close()


async def test_a_fault_is_not_repeated() -> None:
    async def fail(_request: StringValue) -> None:
        raise KeyError("bug")

    scripted = Scripted(fail)
    async with a_neighbour(scripted) as (neighbour, stub):
        with pytest.raises(NeighbourUnavailable):
            await neighbour.repeatable(stub.say, deadline=AMPLE, tries=3)(StringValue())
    assert scripted.calls == 1


async def test_a_stream_carries_a_refusal() -> None:
    async with a_neighbour(Scripted(nothing)) as (neighbour, stub):
        watch = neighbour.stream(stub.watch, deadline=None)
        with pytest.raises(Refusal, match="gone"):
            async for _ in watch(StringValue(value="refuse")):
                pass


async def test_leaving_a_stream_early_ends_it_on_the_server() -> None:
    scripted = Scripted(nothing)
    async with a_neighbour(scripted) as (neighbour, stub):
        async with aclosing(neighbour.stream(stub.watch, deadline=None)(StringValue(value="first"))) as events:
            assert (await anext(events)).value == "first"
        await asyncio.wait_for(scripted.stream_ended.wait(), 20)


async def test_the_trace_and_the_request_id_travel() -> None:
    seen: list[tuple[str, str | None]] = []

    async def look(_request: StringValue) -> None:
        seen.append((tracing.trace_id(), tracing.request_id()))

    tracing.adopt("00-abcdefabcdefabcdefabcdefabcdefab-0123456789abcdef-00", "request-1")
    await say(look)
    assert seen == [("abcdefabcdefabcdefabcdefabcdefab", "request-1")]


async def test_a_taken_port_stops_the_start() -> None:
    async with serving(service(Scripted(nothing)), GrpcSettings()) as running:
        with pytest.raises(StartError, match="port taken"):
            async with serving(service(Scripted(nothing)), GrpcSettings(grpc_listen=running.address)):
                pass
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = GrpcSettings(metrics_listen=f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(StartError, match="port taken"):
            await serve(service(Scripted(nothing)), settings, ready={}, stop=asyncio.Event())


async def test_readiness_names_what_fails_and_metrics_count_the_calls(tmp_path: Path) -> None:
    stop, postgres_is_down = asyncio.Event(), asyncio.Event()

    async def ping() -> None:
        if postgres_is_down.is_set():
            raise Outage("postgres", "refused")

    settings = GrpcSettings(address_file=tmp_path / "addresses.json")
    left: list[str] = []
    leaving = [lambda: left.append("told")]
    served = serve(service(Scripted(nothing)), settings, ready={"postgres": ping}, leaving=leaving, stop=stop)
    running = asyncio.create_task(served)
    addresses = await announced(tmp_path / "addresses.json")
    neighbour = Neighbour(addresses["grpc"], name="echo")
    await neighbour.once(Stub(neighbour.channel).say, deadline=AMPLE)(StringValue())
    health: Any = health_pb2_grpc.HealthStub(neighbour.channel)
    assert (
        await health.Check(health_pb2.HealthCheckRequest(service=NAME))
    ).status == health_pb2.HealthCheckResponse.SERVING
    async with httpx.AsyncClient(base_url=addresses["metrics"].removesuffix("/metrics")) as http:
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/readyz")).status_code == 200
        postgres_is_down.set()
        answer = await http.get("/readyz")
        metrics = (await http.get("/metrics")).text
    assert answer.status_code == 503
    assert answer.json()["failing"] == {"postgres": "Outage: postgres: refused"}
    assert 'horde_rpc_server_seconds_count{code="OK",method="Say",service="echo"}' in metrics
    assert 'horde_rpc_client_seconds_count{code="OK",method="Say",neighbour="echo"}' in metrics
    await neighbour.close()
    assert left == []
    stop.set()
    await asyncio.wait_for(running, 20)
    assert left == ["told"]


async def announced(path: Path) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while not path.exists():  # noqa: ASYNC110 - the file is written by another process
            await asyncio.sleep(0.02)
    found: dict[str, Any] = orjson.loads(path.read_bytes())
    return found


PROCESS = """
import asyncio, sys
from functools import partial
from horde.rpc.server import Service, run, serve
from horde.settings import GrpcSettings, TelemetrySettings, load
from horde_pb.progress.v1 import progress_service_pb2 as pb, progress_service_pb2_grpc as pb_grpc

class Slow(pb_grpc.ProgressServiceServicer):
    is_called = asyncio.Event()

    async def CloseLease(self, request, context):
        self.is_called.set()
        await asyncio.sleep(2.0)
        return pb.CloseLeaseResponse()

    async def WatchRequest(self, request, context):
        yield pb.WatchRequestResponse(subscribed=pb.Subscribed())
        await self.is_called.wait()
        yield pb.WatchRequestResponse(subscribed=pb.Subscribed())
        await asyncio.sleep(60)

class Both(GrpcSettings, TelemetrySettings):
    pass

async def main():
    add = partial(pb_grpc.add_ProgressServiceServicer_to_server, Slow())
    await serve(Service("progress", add, "horde_pb.progress.v1.ProgressService"), load(Both), ready={})

sys.exit(run(main()))
"""


async def test_sigterm_finishes_a_call_under_way_and_ends_streams_and_refuses_new_calls(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROCESS, env={"HORDE_ADDRESS_FILE": str(tmp_path / "a.json"), "HORDE_DRAIN_SECONDS": "8"}
    )
    address = (await announced(tmp_path / "a.json"))["grpc"]
    neighbour = Neighbour(address, name="progress")
    stub = pb_grpc.ProgressServiceStub(neighbour.channel)
    call = neighbour.once(stub.CloseLease, deadline=timedelta(seconds=10))
    watching = neighbour.stream(stub.WatchRequest, deadline=None)(pb.WatchRequestRequest())
    await anext(watching)
    under_way = asyncio.ensure_future(call(pb.CloseLeaseRequest()))
    await anext(watching)  # it has arrived
    process.send_signal(signal.SIGTERM)
    with pytest.raises(NeighbourUnavailable):
        await anext(watching)
    with pytest.raises(NeighbourUnavailable):
        await call(pb.CloseLeaseRequest())
    await under_way
    assert await asyncio.wait_for(process.wait(), 20) == 0
    await neighbour.close()


async def test_a_bad_setting_ends_the_process_with_one_message() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROCESS, env={"HORDE_GRPC_LISTEN": "nowhere"}, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"HORDE_GRPC_LISTEN='nowhere'" in said
    assert b"Traceback" not in said


async def test_grpc_status_is_the_one_of_the_reason() -> None:
    async def refuse(_request: StringValue) -> None:
        raise Refusal(reasons.INVALID_JOB_ID, "unknown")

    async with a_neighbour(Scripted(refuse)) as (_, stub):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.say(StringValue())
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "unknown"
