"""The primary of a Sentinel group dies in the middle of a stream: posts are repeated for a moment, nothing is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from horde.contract import reasons
from horde.live.addresses import Sentinels, connections
from horde_pb.progress.v1 import progress_service_pb2 as pb
from tests.fakes.progress_service import Progress, a_lease, a_post, serving
from tests.fakes.sentinels import sentinels


async def posted(progress: Progress, post: pb.AppendProgressRequest) -> None:
    """As a worker does it: the same post again while progress says that it is away."""
    while True:
        call: Any = progress.stub.AppendProgress(post)
        try:
            await call
        except Exception:  # noqa: BLE001 - told apart below, by what the service said
            refusal = await progress.refusal(call)
            assert refusal.reason is reasons.CHAT_PROGRESS_UNAVAILABLE
            await asyncio.sleep(0.05)
        else:
            return


async def test_a_stream_goes_on_after_a_failover(tmp_path: Path) -> None:
    async with (
        sentinels(tmp_path) as group,
        connections(group.url, most=1, wait_seconds=5) as primary,
        serving(group.url, socket_seconds=0.5) as progress,
    ):
        lease = a_lease()
        await progress.stub.OpenLease(lease)
        call: Any = progress.stub.WatchRequest(pb.WatchRequestRequest(request_id=lease.request_id))
        events = aiter(call)
        async with asyncio.timeout(30):
            assert (await anext(events)).WhichOneof("event") == "subscribed"
            for seq in (1, 2, 3):
                await posted(progress, a_post(lease, seq, f"{seq} "))
            # what a primary had told nobody dies with it; this is not what the test is about
            await primary.wait(1, 5000)
            await group.kill_primary()
            for seq in (4, 5, 6):
                await posted(progress, a_post(lease, seq, f"{seq} "))
            heard = [(await anext(events)).delta.content for _ in range(6)]
            assert heard == ["1 ", "2 ", "3 ", "4 ", "5 ", "6 "]
            await progress.stub.PublishEvents(
                pb.PublishEventsRequest(request_id=lease.request_id, signals=[pb.Signal(event="done", generations=1)])
            )
            assert (await anext(events)).signal.event == "done"
            await group.failed_over()
        call.cancel()


@pytest.mark.parametrize(
    ("url", "hosts", "login", "database"),
    [
        ("redis+sentinel://a:1,b:2/n", (("a", 1), ("b", 2)), {}, 0),
        ("redis+sentinel://a,[::1],[::1]:3/n?db=7", (("a", 26379), ("::1", 26379), ("::1", 3)), {}, 7),
        ("redis+sentinel://u:p%40@a:1/n", (("a", 1),), {"username": "u", "password": "p@"}, 0),
        ("redis+sentinel://:p@a:1/n", (("a", 1),), {"password": "p"}, 0),
    ],
)
def test_an_address_names_sentinels_primary_and_login(
    url: str, hosts: tuple[tuple[str, int], ...], login: dict[str, str], database: int
) -> None:
    told = Sentinels.read(url)
    assert (told.hosts, told.login, told.database, told.name) == (hosts, login, database, "n")


@pytest.mark.parametrize("url", ["redis+sentinel:///n", "redis+sentinel://a:1", "redis+sentinel://a:1/n/0"])
def test_an_address_without_sentinels_or_primary_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="wanted"):
        Sentinels.read(url)
