"""Fetching what a stranger names: only from public addresses, within bounds, whatever the server does."""

import asyncio
import time
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.public_web import PublicWeb
from services.media.fetching import PublicFetcher
from tests.fakes.internet import Answer, Internet, internet

PUBLIC = "8.8.8.8"


def an_answer(body: bytes = b"image", status: str = "200 OK", *headers: str) -> Answer:
    async def answer(_head: bytes, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return answer


def a_redirect(location: str) -> Answer:
    return an_answer(b"", "302 Found", f"Location: {location}")


async def fetched(
    answer: Answer,
    url: str = "http://host.test/a.png",
    *,
    max_bytes: int = 1000,
    allowed: tuple[str, ...] = (),
    **names: Any,
) -> tuple[bytes | Refusal, Internet]:
    known = {"host.test": [[PUBLIC]], **{name.replace("_", "."): answers for name, answers in names.items()}}
    async with internet(answer, known) as world:
        fetcher = PublicFetcher(PublicWeb(allowed, resolve=world.resolve, network=world), at_once=1)
        try:
            return await fetcher.fetch_public_image(url, 0, max_bytes=max_bytes), world
        except Refusal as no:
            return no, world


def reason(result: bytes | Refusal) -> reasons.Reason:
    assert isinstance(result, Refusal)
    return result.reason


async def test_a_public_image_is_fetched_with_host_port_and_path_as_given() -> None:
    body, world = await fetched(an_answer(b"the image"), "http://Host.test:8080/a%20b.png?x=1#part")
    assert body == b"the image"
    assert world.connected == [(PUBLIC, 8080)]
    head = world.requests[0].decode()
    assert head.startswith("GET /a%20b.png?x=1 HTTP/1.1\r\n")
    assert "host: host.test:8080\r\n" in head.lower()
    assert "cookie" not in head.lower()
    assert "authorization" not in head.lower()


async def test_a_name_that_answers_differently_later_is_asked_once_and_its_first_address_is_used() -> None:
    body, world = await fetched(an_answer(), "http://rebind.test/", rebind_test=[[PUBLIC], ["127.0.0.1"]])
    assert body == b"image"
    assert world.resolved == ["rebind.test"]
    assert world.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::ffff:169.254.169.254"], ["64:ff9b::7f00:1"]]
)
async def test_one_private_address_of_a_name_is_enough_to_refuse_it(addresses: list[str]) -> None:
    result, world = await fetched(an_answer(), "http://inside.test/", inside_test=[addresses])
    assert reason(result) is reasons.SOURCE_IMAGE_URL_REFUSED
    assert world.connected == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data/",
        "http://user:password@host.test/", "http:///a.png", "http://host.test:99999/", "http://host.test/" + "x" * 9000,
    ],
)  # fmt: skip
async def test_urls_that_may_not_be_asked_are_refused(url: str) -> None:
    result, world = await fetched(an_answer(), url)
    assert isinstance(result, Refusal)
    assert (result.reason, result.facts) == (reasons.SOURCE_IMAGE_URL_REFUSED, {"image": 0})
    assert world.connected == []


async def test_only_the_allowed_host_and_port_may_be_private() -> None:
    allowed = ("127.0.0.1:9000",)
    body, _ = await fetched(an_answer(), "http://127.0.0.1:9000/", allowed=allowed)
    assert body == b"image"
    result, _ = await fetched(an_answer(), "http://127.0.0.1:9001/", allowed=allowed)
    assert reason(result) is reasons.SOURCE_IMAGE_URL_REFUSED


@pytest.mark.parametrize(
    "location", ["http://127.0.0.1/", "http://inside.test/", "file:///etc/passwd", "gopher://host.test/"]
)
async def test_a_redirect_goes_through_the_same_door(location: str) -> None:
    result, world = await fetched(a_redirect(location), inside_test=[["10.0.0.1"]])
    assert reason(result) is reasons.SOURCE_IMAGE_URL_REFUSED
    assert world.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize(("hops", "is_fetched"), [(3, True), (4, False)])
async def test_three_redirects_are_followed_and_no_more(hops: int, is_fetched: bool) -> None:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        number = int(head.split(b" ")[1].lstrip(b"/") or b"0")
        await (an_answer() if number == hops else a_redirect(f"/{number + 1}"))(head, writer)

    result, world = await fetched(answer, "http://host.test/0")
    assert (result == b"image") is is_fetched
    assert len(world.connected) == 4
    if not is_fetched:
        assert isinstance(result, Refusal)
        assert (result.reason, result.facts) == (reasons.SOURCE_IMAGE_URL_INVALID, {"image": 0})


@pytest.mark.parametrize("status", ["404 Not Found", "204 No Content", "206 Partial Content", "500 Oh", "302 Found"])
async def test_anything_but_a_200_is_an_invalid_url(status: str) -> None:
    result, _ = await fetched(an_answer(b"", status))
    assert reason(result) is reasons.SOURCE_IMAGE_URL_INVALID


async def test_an_endless_body_is_read_one_byte_past_the_bound() -> None:
    async def endless(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 700)
            await writer.drain()

    body, _ = await fetched(endless, max_bytes=1000)
    assert body == b"x" * 1001


async def test_a_body_shorter_than_announced_is_invalid() -> None:
    async def liar(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort")

    result, _ = await fetched(liar)
    assert reason(result) is reasons.SOURCE_IMAGE_URL_INVALID


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000])
async def test_what_is_no_http_is_invalid(reply: bytes) -> None:
    async def answer(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)

    result, _ = await fetched(answer)
    assert reason(result) is reasons.SOURCE_IMAGE_URL_INVALID


async def test_silence_is_waited_for_two_seconds() -> None:
    async def silent(_head: bytes, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    began = time.monotonic()
    result, _ = await fetched(silent)
    assert reason(result) is reasons.SOURCE_IMAGE_URL_INVALID
    assert 1.5 < time.monotonic() - began < 6


@pytest.mark.slow
async def test_a_trickle_ends_after_ten_seconds_in_all() -> None:
    async def trickle(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.5)

    began = time.monotonic()
    result, _ = await fetched(trickle)
    assert reason(result) is reasons.SOURCE_IMAGE_URL_INVALID
    assert 9 < time.monotonic() - began < 15


async def test_a_name_that_does_not_exist_is_invalid() -> None:
    with pytest.raises(Refusal) as no:
        await PublicFetcher(PublicWeb(()), at_once=1).fetch_public_image(
            "http://does-not-exist.invalid/", 0, max_bytes=10
        )
    assert no.value.reason is reasons.SOURCE_IMAGE_URL_INVALID


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "localhost", "0"])
async def test_other_spellings_of_this_machine_are_refused(host: str) -> None:
    with pytest.raises(Refusal) as no:
        await PublicFetcher(PublicWeb(()), at_once=1).fetch_public_image(f"http://{host}/", 0, max_bytes=10)
    assert no.value.reason is reasons.SOURCE_IMAGE_URL_REFUSED
