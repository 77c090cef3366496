"""Posts that come while others are under way go together, and each gets its own answer."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.rpc import refusals
from horde.rpc.client import NeighbourUnavailable
from horde_pb.progress.v1 import progress_service_pb2 as pb
from services.gateway.posting import LANES, MOST_TOGETHER, Posting


class Calls:
    """What progress was asked; single posts are answered when the test says so."""

    def __init__(self) -> None:
        self.alone: list[int] = []
        self.together: list[list[int]] = []
        self.go_on = asyncio.Event()
        self.answers: Callable[[pb.AppendTogetherRequest], Awaitable[pb.AppendTogetherResponse]] = self.all_accepted

    async def one(self, post: pb.AppendProgressRequest) -> pb.AppendProgressResponse:
        self.alone.append(post.seq)
        await self.go_on.wait()
        return pb.AppendProgressResponse(accepted_seq=post.seq)

    async def many(self, posts: pb.AppendTogetherRequest) -> pb.AppendTogetherResponse:
        self.together.append([post.seq for post in posts.posts])
        return await self.answers(posts)

    async def all_accepted(self, posts: pb.AppendTogetherRequest) -> pb.AppendTogetherResponse:
        accepted = [pb.AppendProgressResponse(accepted_seq=post.seq) for post in posts.posts]
        return pb.AppendTogetherResponse(answers=[pb.Appended(accepted=one) for one in accepted])


def begun(posting: Posting, count: int, content: str = "") -> list[asyncio.Task[pb.AppendProgressResponse]]:
    return [
        asyncio.create_task(posting.append(pb.AppendProgressRequest(seq=seq, content=content)))
        for seq in range(1, count + 1)
    ]


async def test_a_lone_post_waits_for_nobody() -> None:
    calls = Calls()
    calls.go_on.set()
    posting = Posting(calls.one, calls.many)
    for seq in (1, 2, 3):
        assert (await posting.append(pb.AppendProgressRequest(seq=seq))).accepted_seq == seq
    assert (calls.alone, calls.together) == ([1, 2, 3], [])


async def test_what_comes_while_every_lane_is_taken_goes_together() -> None:
    calls = Calls()
    posting = Posting(calls.one, calls.many)
    tasks = begun(posting, LANES + 5)
    await asyncio.sleep(0)
    assert (len(calls.alone), calls.together) == (LANES, [])
    calls.go_on.set()
    assert [(await task).accepted_seq for task in tasks] == list(range(1, LANES + 6))
    assert calls.together == [list(range(LANES + 1, LANES + 6))]


async def test_one_call_carries_a_bounded_number_of_posts_and_of_bytes() -> None:
    calls = Calls()
    tasks = begun(Posting(calls.one, calls.many), LANES + MOST_TOGETHER + 1)
    await asyncio.sleep(0)
    calls.go_on.set()
    await asyncio.gather(*tasks)
    assert [len(batch) for batch in calls.together] == [MOST_TOGETHER, 1]
    calls = Calls()
    tasks = begun(Posting(calls.one, calls.many), LANES + 3, content="x" * 4_000_000)
    await asyncio.sleep(0)
    calls.go_on.set()
    await asyncio.gather(*tasks)
    assert [len(batch) for batch in calls.together] == [2, 1]


async def test_each_post_has_its_own_outcome() -> None:
    calls = Calls()
    refusal = Refusal(reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE, "no", {"expected_seq": 9})

    async def mixed(_: pb.AppendTogetherRequest) -> pb.AppendTogetherResponse:
        return pb.AppendTogetherResponse(
            answers=[
                pb.Appended(refused=refusals.packed(refusal)),
                pb.Appended(failed="dispatch is away"),
                pb.Appended(accepted=pb.AppendProgressResponse(accepted_seq=5, cancelled=True)),
            ]
        )

    calls.answers = mixed
    tasks = begun(Posting(calls.one, calls.many), LANES + 3)
    await asyncio.sleep(0)
    calls.go_on.set()
    *_, refused, failed, accepted = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts) == (reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE, {"expected_seq": 9})
    assert isinstance(failed, NeighbourUnavailable)
    assert accepted == pb.AppendProgressResponse(accepted_seq=5, cancelled=True)


@pytest.mark.parametrize("code", ["UNAVAILABLE", "UNIMPLEMENTED"])
async def test_an_outage_is_told_to_all_and_an_earlier_progress_is_asked_one_by_one(code: str) -> None:
    calls = Calls()

    async def fails(_: pb.AppendTogetherRequest) -> pb.AppendTogetherResponse:
        raise NeighbourUnavailable("progress", "no", code)

    calls.answers = fails
    tasks = begun(Posting(calls.one, calls.many), LANES + 2)
    await asyncio.sleep(0)
    calls.go_on.set()
    found = (await asyncio.gather(*tasks, return_exceptions=True))[LANES:]
    if code == "UNIMPLEMENTED":
        assert [answer.accepted_seq for answer in found if not isinstance(answer, BaseException)] == [3, 4]
    else:
        assert all(isinstance(answer, NeighbourUnavailable) for answer in found)


async def test_an_answer_that_lacks_posts_is_no_answer() -> None:
    calls = Calls()

    async def lacks(_: pb.AppendTogetherRequest) -> pb.AppendTogetherResponse:
        return pb.AppendTogetherResponse()

    calls.answers = lacks
    tasks = begun(Posting(calls.one, calls.many), LANES + 2)
    await asyncio.sleep(0)
    calls.go_on.set()
    found = (await asyncio.gather(*tasks, return_exceptions=True))[LANES:]
    assert all(isinstance(answer, NeighbourUnavailable) for answer in found)


async def test_who_goes_away_is_not_sent() -> None:
    calls = Calls()
    tasks = begun(Posting(calls.one, calls.many), LANES + 2)
    await asyncio.sleep(0)
    tasks[LANES].cancel()
    await asyncio.sleep(0)
    calls.go_on.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert calls.together == [[LANES + 2]]
