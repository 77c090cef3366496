"""Replicas leave, come and come back under calls that are never repeated: none of them fails."""

import asyncio
import secrets
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from time import monotonic
from typing import Any, cast

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from horde.rpc import client, options
from horde.rpc.client import Neighbour, NeighbourUnavailable, UnaryCall
from horde.rpc.server import Running, Service, serving
from horde.settings import GrpcSettings
from tests.fakes.name_server import NameServer
from tests.fakes.patience import until

NAME = "horde_test.Echo"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each replica takes a loopback address of its own")


def registered(address: str) -> Callable[[grpc.aio.Server], None]:
    """Registers what says where it is, after as long as a call to the database takes."""

    async def say(_request: StringValue, _context: object) -> StringValue:
        await asyncio.sleep(0.02)
        return StringValue(value=address)

    codec = (StringValue.FromString, StringValue.SerializeToString)
    handlers = {"Say": grpc.unary_unary_rpc_method_handler(cast("Any", say), *codec)}
    return lambda server: server.add_registered_method_handlers(NAME, handlers)


class Replicas:
    """The replicas of one service behind one name."""

    def __init__(self) -> None:
        self.network = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(256)}"
        self.listed: list[str] = []
        self._last = 9

    @asynccontextmanager
    async def one_more(self) -> AsyncIterator[Running]:
        """Starts a replica, and lists it beside the others."""
        self._last += 1
        address = f"{self.network}.{self._last}"
        service = Service("echo", registered(address), NAME)
        async with serving(service, GrpcSettings(grpc_listen=f"{address}:7100")) as running:
            self.listed.append(address)
            yield running

    async def leave(self, running: Running) -> None:
        """It is not listed any more, and goes as `serve` lets it go on SIGTERM."""
        self.listed.remove(running.address.removesuffix(":7100"))
        await running.leave()
        await running.drain(monotonic() + 5)


def said(neighbour: Neighbour) -> UnaryCall[StringValue, StringValue]:
    """The method, as generated code gives it to a client."""
    codec = (StringValue.SerializeToString, StringValue.FromString)
    method: UnaryCall[StringValue, StringValue] = neighbour.channel.unary_unary(f"/{NAME}/Say", *codec)
    return method


class Callers:
    """Those who call all the time: what failed, and who answered how often."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.answers: Counter[str] = Counter()
        self.ended = False

    async def call(self, call: Callable[[StringValue], Awaitable[StringValue]]) -> None:
        """One caller, until the end."""
        while not self.ended:
            try:
                self.answers[(await call(StringValue())).value] += 1
            except NeighbourUnavailable as away:
                self.failures.append(str(away))
            await asyncio.sleep(0.002)


@asynccontextmanager
async def callers_of(replicas: Replicas) -> AsyncIterator[Callers]:
    """Twenty callers that share one channel, as those in one process do."""
    callers = Callers()
    async with NameServer.serving(f"{replicas.network}.2", lambda _: replicas.listed, late_seconds=0) as authority:
        neighbour = Neighbour(f"dns://{authority}/echo:7100", name="echo")
        call = neighbour.once(said(neighbour), deadline=timedelta(seconds=30))
        calling = [asyncio.create_task(callers.call(call)) for _ in range(20)]
        try:
            yield callers
        finally:
            callers.ended = True
            await asyncio.gather(*calling)
            await neighbour.close()


async def test_no_call_fails_while_the_only_replica_is_replaced_as_soon_as_it_is_found_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # all ends of this share one event loop, which a busy machine may stop for longer than a call usually waits
    monkeypatch.setattr(client, "_RECONNECT_SECONDS", 10.0)
    replicas = Replicas()
    async with AsyncExitStack() as stack:
        now = await stack.enter_async_context(replicas.one_more())
        async with callers_of(replicas) as callers:
            for _ in range(8):
                await until(lambda: callers.answers[replicas.listed[0]] > 50, seconds=30)
                following = await stack.enter_async_context(replicas.one_more())
                await replicas.leave(now)
                now = following
            await until(lambda: callers.answers[replicas.listed[0]] > 50, seconds=30)
        assert callers.failures == []
        assert len(callers.answers) == 9


async def test_a_replica_that_comes_later_is_found_without_any_connection_breaking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    soon = [(name, 700 if name == "grpc.max_connection_age_ms" else value) for name, value in options.SERVER]
    monkeypatch.setattr(options, "SERVER", tuple(soon))
    replicas = Replicas()
    async with replicas.one_more(), AsyncExitStack() as stack, callers_of(replicas) as callers:
        await asyncio.sleep(0.5)
        second = await stack.enter_async_context(replicas.one_more())
        await until(lambda: callers.answers[second.address.removesuffix(":7100")] >= 50, seconds=30)
        callers.ended = True
        assert callers.failures == []


async def test_a_call_finds_a_neighbour_that_has_just_come_back() -> None:
    replicas = Replicas()
    async with NameServer.serving(f"{replicas.network}.2", lambda _: replicas.listed, late_seconds=0) as authority:
        async with replicas.one_more() as running:
            address = running.address
            neighbour = Neighbour(f"dns://{authority}/echo:7100", name="echo")
            call = neighbour.once(said(neighbour), deadline=timedelta(seconds=10))
            await call(StringValue())
        for _ in range(4):  # by now gRPC pauses for the longest time between two tries to connect
            with pytest.raises(NeighbourUnavailable, match="UNAVAILABLE"):
                await call(StringValue())
        service = Service("echo", registered(address), NAME)
        async with serving(service, GrpcSettings(grpc_listen=address)):
            assert (await call(StringValue())).value == address
        await neighbour.close()
