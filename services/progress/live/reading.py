"""Reads of many streams at once: whatever is asked while one batch is on its way forms the next batch."""

import asyncio
from collections.abc import Mapping

from horde.live import Live

type Entries = list[tuple[bytes, Mapping[bytes, bytes]]]

PAGE = 200
"""Entries of one stream in one read: a whole reply at two posts a second, and a bound on the memory of a replay."""

BATCH = 200
"""Streams in one round trip."""


class StreamReader:
    """Gives the entries of a stream after a given one, over a single connection for all who ask."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._asked: list[tuple[str, bytes, asyncio.Future[Entries]]] = []
        self._task: asyncio.Task[None] | None = None

    async def after(self, stream: str, last: bytes) -> Entries:
        """Up to PAGE entries after the id `last`; b"0": from the start. Raises LiveUnavailable."""
        answer: asyncio.Future[Entries] = asyncio.get_running_loop().create_future()
        self._asked.append((stream, last, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="stream reader")
        return await answer

    async def _work(self) -> None:
        while self._asked:
            batch, self._asked = self._asked[:BATCH], self._asked[BATCH:]
            try:
                answers = await self._read(batch)
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                for _, _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            for (_, _, answer), entries in zip(batch, answers, strict=True):
                if not answer.done():
                    answer.set_result(entries)

    async def _read(self, batch: list[tuple[str, bytes, asyncio.Future[Entries]]]) -> list[Entries]:
        with self._live.guard() as redis:
            async with redis.pipeline(transaction=False) as together:
                for stream, last, _ in batch:
                    together.xrange(stream, min=b"(" + last, count=PAGE)
                read: list[Entries] = await together.execute()
                return read
