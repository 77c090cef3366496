"""Progress posts on their way to progress: what comes while others are under way goes together.

A call costs its two ends half a millisecond of CPU however little it says, and workers post little and often. A post
that finds a free lane goes alone and waits for nobody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc import refusals
from horde.rpc.client import NeighbourUnavailable
from horde_pb.progress.v1.progress_service_pb2 import (
    Appended,
    AppendProgressRequest,
    AppendProgressResponse,
    AppendTogetherRequest,
    AppendTogetherResponse,
)

LANES = 2
"""Calls under way at a time: while one waits for a lease to be renewed, the other goes on."""

MOST_TOGETHER = 100
_MOST_BYTES = 8 * 1024 * 1024
"""What one call carries at most; a message may have 64 MiB, and a single post a fraction of these."""

type One = Callable[[AppendProgressRequest], Awaitable[AppendProgressResponse]]
type Together = Callable[[AppendTogetherRequest], Awaitable[AppendTogetherResponse]]
type Waiting = tuple[AppendProgressRequest, asyncio.Future[AppendProgressResponse]]


class Posting:
    """All posts of this process."""

    def __init__(self, one: One, together: Together) -> None:
        self._one = one
        self._together = together
        self._waiting: list[Waiting] = []
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def append(self, post: AppendProgressRequest) -> AppendProgressResponse:
        """The answer to one post. Raises Refusal or NeighbourUnavailable, as the call of a single post does."""
        if self._under_way >= LANES:
            answer: asyncio.Future[AppendProgressResponse] = asyncio.get_running_loop().create_future()
            self._waiting.append((post, answer))
            return await answer
        self._under_way += 1
        try:
            return await self._one(post)
        finally:
            self._leave()

    def _leave(self) -> None:
        """A lane is free: whoever waits goes now, together."""
        self._under_way -= 1
        # Whoever went away meanwhile has cancelled its future.
        self._waiting = [(post, answer) for post, answer in self._waiting if not answer.done()]
        if self._waiting:
            self._under_way += 1
            task = asyncio.create_task(self._send(self._batch()), name="posts together")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _batch(self) -> list[Waiting]:
        size, count = 0, 0
        for post, _ in self._waiting[:MOST_TOGETHER]:
            size += post.ByteSize()
            if count and size > _MOST_BYTES:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    async def _send(self, batch: Sequence[Waiting]) -> None:
        outcomes: Sequence[AppendProgressResponse | Exception]
        try:
            outcomes = await self._outcomes([post for post, _ in batch])
        except Exception as bug:  # noqa: BLE001 - whoever asked is told
            outcomes = [bug] * len(batch)
        finally:
            self._leave()
        for (_, answer), outcome in zip(batch, outcomes, strict=True):
            if answer.done():
                continue
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

    async def _outcomes(self, posts: Sequence[AppendProgressRequest]) -> Sequence[AppendProgressResponse | Exception]:
        try:
            told = await self._together(AppendTogetherRequest(posts=posts))
        except NeighbourUnavailable as away:
            if away.code != "UNIMPLEMENTED":
                return [away] * len(posts)
            # A progress of an earlier version, while a new one is rolled out.
            return await asyncio.gather(*(self._alone(post) for post in posts))
        except (Refusal, Outage) as failed:
            return [failed] * len(posts)
        if len(told.answers) != len(posts):
            return [NeighbourUnavailable("progress", "some posts were not answered", "UNKNOWN")] * len(posts)
        return [_outcome(answer) for answer in told.answers]

    async def _alone(self, post: AppendProgressRequest) -> AppendProgressResponse | Exception:
        try:
            return await self._one(post)
        except (Refusal, Outage) as failed:
            return failed


def _outcome(answer: Appended) -> AppendProgressResponse | Exception:
    match answer.WhichOneof("outcome"):
        case "accepted":
            return answer.accepted
        case "refused":
            return refusals.unpacked(answer.refused) or NeighbourUnavailable("progress", "no refusal", "UNKNOWN")
        case _:
            return NeighbourUnavailable("progress", answer.failed, "UNAVAILABLE")
