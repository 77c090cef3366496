"""The life of a worker: wait for the backend, declare, pop and work, leave in good order."""

import asyncio
import contextlib
from time import monotonic
from typing import Any

from horde.cli.worker.backend import Backend, BackendFailure, Proven
from horde.cli.worker.declaring import checks_estimate, declaration, threads
from horde.cli.worker.gateway import AGENT, Gateway, HordeAway, jittered
from horde.cli.worker.jobs import Bench, work
from horde.cli.worker.journal import Journal
from horde.cli.worker.options import WorkerOptions
from horde.contract.vocabulary import chat_declaration

FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 0.2, 2.0, 1.5
"""Seconds between pops that found nothing, at a horde that lets no pop wait: a job waits a fifth of a second for a
worker that just served one, and two seconds for one that has been idle."""

WAITED_SECONDS = 1.0
"""An empty answer after this long came from a horde that let the pop wait: the next one may follow at once."""

OUTAGE_PAUSE = 10.0
"""The longest pause in seconds while the horde or the backend is away."""


class Worker:
    """Runs until `stop` is set, or until one job is served when that is all that was asked for."""

    def __init__(self, options: WorkerOptions, stop: asyncio.Event, journal: Journal | None = None) -> None:
        self._options = options
        self._stop = stop
        self._journal = journal or Journal()
        self._backend = Backend(options)
        self._gateway = Gateway(options)

    async def run(self) -> None:
        """Returns when the worker has left. Raises StartError when it can never work as it was started."""
        try:
            proven = await self._wait_for_backend()
            if proven is None:
                return
            declared = declaration(self._options, proven)
            count = 1 if self._options.is_once else threads(self._options, proven)
            features = ", ".join(sorted(feature.value for feature in declared.features))
            self._journal.say(f"serving {self._options.model} with {count} threads; declared: {features}")
            bench = Bench(
                self._gateway,
                self._backend,
                self._journal,
                model=self._options.model,
                backend_model=self._options.backend_model or proven.model or self._options.model,
                checks_estimate=checks_estimate(self._options, proven),
                progress_every=self._options.progress_every.total_seconds(),
            )
            body = self._pop_body(declared, count)
            await self._work_side_by_side(bench, body, count)
        finally:
            await self._gateway.close()
            await self._backend.close()

    async def _work_side_by_side(self, bench: Bench, body: dict[str, Any], count: int) -> None:
        lines = [asyncio.create_task(self._serve(bench, body), name=f"thread {number}") for number in range(count)]
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([*lines, stopping], return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                self._journal.say("leaving: no more jobs are taken")
                await asyncio.wait(lines, timeout=self._options.grace.total_seconds())
        finally:
            # A line that ended by itself failed, or served the one job that was asked for; the others need not go on.
            stopping.cancel()
            for line in lines:
                line.cancel()
            ended = await asyncio.gather(*lines, return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome

    async def _serve(self, bench: Bench, body: dict[str, Any]) -> None:
        """One thread: pop, work, pop again."""
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            asked_at = monotonic()
            try:
                popped = await self._pop(body)
            except HordeAway as away:
                self._journal.turn("horde", str(away))
                pause = min(pause * 2, OUTAGE_PAUSE)
                await self._rest(away.retry_after or jittered(pause))
                continue
            self._journal.turn("horde", "answers")
            if popped is None:
                if monotonic() - asked_at >= WAITED_SECONDS:
                    continue
                await self._rest(jittered(pause))
                pause = min(pause * GROWTH, LONGEST_PAUSE)
                continue
            pause = FIRST_PAUSE
            is_backend_up = await work(popped, bench)
            if self._options.is_once:
                return
            if not is_backend_up:
                await self._wait_for_backend()

    async def _pop(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """A job; None when there is none, or when the worker is told to leave while it waits. Raises HordeAway."""
        popping = asyncio.create_task(self._gateway.pop(body))
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([popping, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not popping.done():
                # The horde sees that nobody waits any more, and gives a job of the last moment to others.
                popping.cancel()
                await asyncio.gather(popping, return_exceptions=True)
        return None if popping.cancelled() else popping.result()

    async def _wait_for_backend(self) -> Proven | None:
        """What the backend proves, once it answers; None when the worker is told to leave first."""
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            try:
                proven = await self._backend.probe()
            except BackendFailure as failed:
                self._journal.turn("backend", f"away ({failed})")
                await self._rest(jittered(pause))
                pause = min(pause * 2, OUTAGE_PAUSE)
                continue
            self._journal.turn("backend", "answers")
            return proven
        return None

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()

    def _pop_body(self, declared: chat_declaration.ChatWorkerDeclaration, count: int) -> dict[str, Any]:
        fields = declared.to_pop_fields()
        return {
            "name": self._options.name,
            "models": [self._options.model],
            "bridge_agent": AGENT,
            "threads": count,
            "priority_usernames": [],
            "softprompts": [],
            # The text limits: this worker takes no text jobs, but a pop has to name them.
            "max_length": fields["chat_limits"]["max_length"],
            "max_context_length": fields["chat_limits"]["max_context_length"],
            **fields,
        }
