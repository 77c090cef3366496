"""The door to strangers' web servers, beyond what images show of it in tests/unit/media/test_fetching.py."""

import asyncio
import time

import httpx
import pytest

from horde.public_web import NO_ANSWER, NotAskedError, PublicWeb, public_url
from tests.fakes.internet import internet


async def no_content(_head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".test"])
async def test_a_host_that_no_name_server_can_be_asked_for_is_not_asked(host: str) -> None:
    with pytest.raises(NotAskedError, match="its host is not a name"):
        async with PublicWeb(()).ask("GET", httpx.URL(f"http://{host}/"), (), step_seconds=2):
            pass


async def test_looking_a_name_up_takes_no_longer_than_any_other_step() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    began = time.monotonic()
    with pytest.raises(NO_ANSWER):
        async with PublicWeb((), resolve=resolve).ask("GET", httpx.URL("http://a.test/"), (), step_seconds=0.2):
            pass
    assert time.monotonic() - began < 20


async def test_what_is_posted_arrives_with_the_headers_of_the_call_and_no_others() -> None:
    async with internet(no_content, {"a.test": [["8.8.8.8"]]}) as world:
        web = PublicWeb((), resolve=world.resolve, network=world)
        headers = ((b"Content-Type", b"application/json"),)
        async with web.ask("POST", httpx.URL("http://a.test/x?y"), headers, step_seconds=2, content=b"{}") as answer:
            assert answer.status == 204
    lines = world.requests[0].decode().strip().splitlines()
    assert lines[0] == "POST /x?y HTTP/1.1"
    names = {line.partition(":")[0].lower() for line in lines[1:]}
    assert names == {"host", "user-agent", "content-type", "content-length"}


def test_a_url_in_a_redirect_goes_on_from_where_it_was_found() -> None:
    found = public_url("/b", relative_to=public_url("https://a.test/x"))
    assert str(found) == "https://a.test/b"
    with pytest.raises(NotAskedError):
        public_url("file:///etc/passwd", relative_to=found)
