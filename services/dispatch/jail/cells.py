"""The few cells of this process, each made when it is first needed and again after it broke."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process

from horde.failures import Outage
from horde.telemetry import logs
from horde.telemetry.metrics import SECONDS, Histogram, Timings
from services.dispatch.jail.cell import LENGTH_BYTES
from services.dispatch.rules import schema_check
from services.dispatch.rules.schema_check import Verdict

log = logs.get(__name__)

_CHECKS = Timings(
    Histogram(
        "horde_dispatch_format_check_seconds", "Time of one check of a reply's format.", ("outcome",), buckets=SECONDS
    )
)

_CELLS = 2
"""Checks that may run at once.

A check takes microseconds; only hostile schemas make others wait, each for up to its second.
"""

_INLINE_CHARACTERS = 16 * 1024
"""A content up to here is parsed in place: that takes less time than asking another process."""

_LONGEST_QUESTION = 16 * 1024 * 1024
"""Bytes. A longer one could not be parsed within the memory bound."""

_ANSWER_SECONDS = 10.0
"""Wall time for one answer, with the wait for a free cell and its start: less than the 15 seconds that the gateway
waits for a submit."""


class Jail:
    """Checks formats. Costs nothing until it is asked."""

    def __init__(self, cells: int = _CELLS, seconds: float = _ANSWER_SECONDS) -> None:
        self._seconds = seconds
        self._free: asyncio.LifoQueue[Process | None] = asyncio.LifoQueue()
        for _ in range(cells):
            self._free.put_nowait(None)

    async def check(self, content: str, schema: object | None) -> Verdict:
        """Whether the content matches the schema; without one: whether it is a JSON object.

        What exceeds the bound is UNCOMPILABLE. Raises Outage when there was no answer in time: the cells are busy with
        others, which says nothing of this reply; handed in again it may be stored.
        """
        started = asyncio.get_running_loop().time()
        if schema is None and len(content) <= _INLINE_CHARACTERS:
            verdict = schema_check.is_object(content)
        else:
            asked: dict[str, object] = (
                {"content": content} if schema is None else {"content": content, "schema": schema}
            )
            verdict = await self._asked(json.dumps(asked).encode())
        _CHECKS.observe(verdict, asyncio.get_running_loop().time() - started)
        return verdict

    async def close(self) -> None:
        """Ends the cells that nobody uses."""
        while not self._free.empty():
            cell = self._free.get_nowait()
            if cell is not None:
                await _end(cell)

    async def _asked(self, question: bytes) -> Verdict:
        if len(question) > _LONGEST_QUESTION:
            return Verdict.UNCOMPILABLE
        try:
            async with asyncio.timeout(self._seconds):
                return await self._answered(await self._free.get(), question)
        except TimeoutError:
            # the cell itself ends when it has used up its second: whoever is late was kept waiting
            raise Outage("format checks", f"no answer within {self._seconds} seconds") from None
        except (ConnectionError, ValueError) as broken:
            log.warning("a format check exceeded its bound", why=repr(broken), question_bytes=len(question))
            return Verdict.UNCOMPILABLE

    async def _answered(self, cell: Process | None, question: bytes) -> Verdict:
        """Asks a cell, or a new one in its place, and has it back among the free ones whatever happens."""
        kept: Process | None = None
        try:
            if cell is None or cell.returncode is not None:
                cell = await _start()
            answer = await _ask(cell, question)
            kept = cell
            return Verdict(answer)
        finally:
            try:
                # a cell that was left in the middle of an answer would give it to the next question
                if cell is not None and kept is None:
                    await asyncio.shield(_end(cell))
            finally:
                self._free.put_nowait(kept)


async def _start() -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.dispatch.jail.cell",
        stdin=PIPE,
        stdout=PIPE,
        # no setting and no secret of this process: only where the code is
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


async def _ask(cell: Process, question: bytes) -> str:
    if cell.stdin is None or cell.stdout is None:
        raise ConnectionError("the cell has no pipes")
    cell.stdin.write(len(question).to_bytes(LENGTH_BYTES) + question)
    await cell.stdin.drain()
    answer = await cell.stdout.readline()
    if not answer.endswith(b"\n"):
        raise ConnectionError("the cell is gone")
    return answer.decode().strip()


async def _end(cell: Process) -> None:
    if cell.returncode is None:
        cell.kill()
    await cell.wait()
