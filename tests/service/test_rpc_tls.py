"""Services prove to each other who they are: real certificates, a real server, and every kind of wrong caller."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
import trustme
from google.protobuf.wrappers_pb2 import StringValue

from horde.failures import StartError
from horde.rpc import tls
from horde.rpc.client import Neighbour, NeighbourUnavailable, StreamCall, UnaryCall
from horde.rpc.server import Service, serving
from horde.settings import GrpcSettings, SettingsError, TlsSettings, load

SECOND = timedelta(seconds=1)
NAME = "horde_test.Echo"


class Echo:
    """Says what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def say(self, request: StringValue, _context: object) -> StringValue:
        self.heard.append(request.value)
        return request

    async def watch(self, request: StringValue, _context: object) -> AsyncIterator[StringValue]:
        yield await self.say(request, _context)
        await asyncio.sleep(60)

    def add(self, server: grpc.aio.Server) -> None:
        """Registers as generated code does."""
        codec = (StringValue.FromString, StringValue.SerializeToString)
        handlers = {
            "Say": grpc.unary_unary_rpc_method_handler(cast("Any", self.say), *codec),
            "Watch": grpc.unary_stream_rpc_method_handler(cast("Any", self.watch), *codec),
        }
        server.add_registered_method_handlers(NAME, handlers)


@dataclass(frozen=True)
class Papers:
    """An authority, and the folders in which it puts what it signs, as a secret is mounted."""

    folder: Path
    authority: trustme.CA

    def sign(self, name: str, *, as_: str | None = None) -> TlsSettings:
        """A certificate for `name` in the folder `as_`, over what is there."""
        at = self.folder / (as_ or name)
        at.mkdir(exist_ok=True)
        made = self.authority.issue_cert(name)
        made.private_key_pem.write_to_path(at / "tls.key")
        (at / "tls.crt").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        self.authority.cert_pem.write_to_path(at / "ca.crt")
        return TlsSettings(tls_cert_file=at / "tls.crt", tls_key_file=at / "tls.key", tls_ca_file=at / "ca.crt")


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    return Papers(tmp_path, trustme.CA())


@asynccontextmanager
async def dispatch_serving(shown: TlsSettings, echo: Echo, *callers: str) -> AsyncIterator[str]:
    """A server that shows these papers and lets these callers in; gives its address."""
    settings = GrpcSettings(**shown.model_dump(), tls_allowed_callers=callers)
    async with serving(Service("dispatch", echo.add, NAME), settings) as running:
        yield running.address


async def said(address: str, shown: TlsSettings | None, word: str = "hello", *, to: str = "dispatch") -> str:
    """What the server answers to a caller with these papers."""
    neighbour = Neighbour(address, name=to, settings=shown)
    try:
        return await say(neighbour, word)
    finally:
        await neighbour.close()


async def say(neighbour: Neighbour, word: str) -> str:
    codec = (StringValue.SerializeToString, StringValue.FromString)
    call: UnaryCall[StringValue, StringValue] = neighbour.channel.unary_unary(f"/{NAME}/Say", *codec)
    return (await neighbour.once(call, deadline=SECOND * 3)(StringValue(value=word))).value


async def test_a_caller_on_the_list_is_answered(papers: Papers) -> None:
    async with dispatch_serving(papers.sign("dispatch"), Echo(), "gateway", "progress") as address:
        assert await said(address, papers.sign("gateway")) == "hello"
        assert await said(address, papers.sign("progress")) == "hello"


async def test_a_caller_that_is_not_on_the_list_is_refused_and_does_nothing(papers: Papers) -> None:
    echo = Echo()
    async with dispatch_serving(papers.sign("dispatch"), echo, "gateway") as address:
        with pytest.raises(NeighbourUnavailable, match="media may not call this service") as caught:
            await said(address, papers.sign("media"))
        assert caught.value.code == "PERMISSION_DENIED"
        codec = (StringValue.SerializeToString, StringValue.FromString)
        neighbour = Neighbour(address, name="dispatch", settings=papers.sign("media"))
        watch: StreamCall[StringValue, StringValue] = neighbour.channel.unary_stream(f"/{NAME}/Watch", *codec)
        with pytest.raises(NeighbourUnavailable, match="may not call"):
            await anext(neighbour.stream(watch, deadline=SECOND)(StringValue(value="watched")))
        await neighbour.close()
    assert echo.heard == []


async def test_a_name_counts_as_a_whole(papers: Papers) -> None:
    async with dispatch_serving(papers.sign("dispatch"), Echo(), "gateway") as address:
        for name in ("gateway2", "gateway.example.com", "*.gateway"):
            with pytest.raises(NeighbourUnavailable, match="may not call"):
                await said(address, papers.sign(name))


async def test_a_caller_without_a_certificate_or_without_tls_does_not_connect(papers: Papers) -> None:
    echo = Echo()
    async with dispatch_serving(papers.sign("dispatch"), echo, "gateway") as address:
        with pytest.raises(NeighbourUnavailable) as caught:
            await said(address, None)
        assert caught.value.code == "UNAVAILABLE"
        nameless = grpc.ssl_channel_credentials(papers.authority.cert_pem.bytes())
        options = (("grpc.ssl_target_name_override", "dispatch"),)
        async with grpc.aio.secure_channel(address, nameless, options=options) as channel:
            codec = (StringValue.SerializeToString, StringValue.FromString)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await channel.unary_unary(f"/{NAME}/Say", *codec)(StringValue(), timeout=3)
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert echo.heard == []


async def test_a_certificate_of_another_authority_is_worth_nothing_at_either_end(papers: Papers) -> None:
    echo = Echo()
    stranger = Papers(papers.folder / "stranger", trustme.CA())
    stranger.folder.mkdir()
    forged = stranger.sign("gateway")
    believing = forged.model_copy(update={"tls_ca_file": papers.sign("media").tls_ca_file})
    async with dispatch_serving(papers.sign("dispatch"), echo, "gateway") as address:
        for shown in (forged, believing):
            with pytest.raises(NeighbourUnavailable) as caught:
                await said(address, shown)
            assert caught.value.code == "UNAVAILABLE"
    async with dispatch_serving(stranger.sign("dispatch"), echo, "gateway") as address:
        with pytest.raises(NeighbourUnavailable):
            await said(address, papers.sign("gateway"))
    assert echo.heard == []


async def test_a_service_that_answers_under_another_name_is_not_believed(papers: Papers) -> None:
    async with dispatch_serving(papers.sign("dispatch"), Echo(), "gateway") as address:
        with pytest.raises(NeighbourUnavailable) as caught:
            await said(address, papers.sign("gateway"), to="admission")
    assert caught.value.code == "UNAVAILABLE"


async def test_a_caller_with_tls_tells_nothing_to_a_service_without(papers: Papers) -> None:
    echo = Echo()
    async with serving(Service("dispatch", echo.add, NAME), GrpcSettings()) as running:
        with pytest.raises(NeighbourUnavailable):
            await said(running.address, papers.sign("gateway"))
    assert echo.heard == []


async def test_a_new_certificate_is_shown_without_a_restart(papers: Papers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "_LOOK_SECONDS", 0.0)
    echo = Echo()
    shown = papers.sign("dispatch")
    async with dispatch_serving(shown, echo, "gateway") as address:
        neighbour = Neighbour(address, name="dispatch", settings=papers.sign("gateway"))
        codec = (StringValue.SerializeToString, StringValue.FromString)
        watch: StreamCall[StringValue, StringValue] = neighbour.channel.unary_stream(f"/{NAME}/Watch", *codec)
        assert await say(neighbour, "first") == "first"
        async with aclosing(neighbour.stream(watch, deadline=None)(StringValue(value="stream"))) as events:
            assert (await anext(events)).value == "stream"
            # a new authority: whoever still showed a certificate of the old one would be turned away
            renewed = Papers(papers.folder, trustme.CA())
            renewed.sign("dispatch")
            renewed.sign("gateway")
            assert await say(neighbour, "second") == "second"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 0.3)
        await neighbour.close()
        renewed.sign("media", as_="gateway")
        with pytest.raises(NeighbourUnavailable, match="media may not call"):
            await said(address, shown.model_copy(update=renewed.sign("media", as_="gateway").model_dump()))
    assert echo.heard == ["first", "stream", "second"]


async def test_files_that_are_half_written_leave_the_old_ones_in_force(
    papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_LOOK_SECONDS", 0.0)
    shown, mine = papers.sign("dispatch"), papers.sign("gateway")
    async with dispatch_serving(shown, Echo(), "gateway") as address:
        neighbour = Neighbour(address, name="dispatch", settings=mine)
        for settings in (shown, mine):
            assert settings.tls_cert_file is not None
            settings.tls_cert_file.write_text("-----BEGIN CERTIFICATE-----\nMII")
        assert await say(neighbour, "on") == "on"
        await neighbour.close()
        papers.sign("gateway")
        assert await said(address, mine, "and on") == "and on"


async def test_what_cannot_be_used_stops_the_start(papers: Papers) -> None:
    good = papers.sign("dispatch")
    other = papers.sign("gateway")
    for wrong in ({"tls_key_file": other.tls_key_file}, {"tls_ca_file": papers.folder / "missing"}):
        with pytest.raises(StartError, match="cannot be used"):
            async with dispatch_serving(good.model_copy(update=wrong), Echo(), "gateway"):
                pass
        with pytest.raises(StartError, match="cannot be used"):
            Neighbour("127.0.0.1:1", name="dispatch", settings=good.model_copy(update=wrong))
    with pytest.raises(StartError, match="HORDE_TLS_ALLOWED_CALLERS is not set"):
        async with dispatch_serving(good, Echo()):
            pass
    with pytest.raises(SettingsError, match="set all three, or none"):
        load(GrpcSettings, {"HORDE_TLS_CERT_FILE": "/a"})
