"""One job: generate, post what was said so far, hand the reply in, or say why there is none."""

import asyncio
import contextlib
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from horde.cli.worker.backend import Backend, BackendFailure, FaultReason, estimated_tokens
from horde.cli.worker.gateway import Gateway, HordeAway, Told
from horde.cli.worker.journal import Journal
from horde.cli.worker.replies import Reply
from horde.contract.vocabulary import chat_declaration

FAREWELL_SECONDS = 5.0
"""How long a leaving worker tries to hand a job back. When the horde is away too, the lease ends by itself."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a job is worked on with. `checks_estimate`: the worker must notice itself that a prompt does not fit."""

    gateway: Gateway
    backend: Backend
    journal: Journal
    model: str
    backend_model: str
    checks_estimate: bool
    progress_every: float


async def work(popped: dict[str, Any], bench: Bench) -> bool:
    """Serves a popped job to its end. False: the backend could not be reached, so no other job should be popped now.

    Cancelling it (the worker is leaving) faults the job, so that the horde hands it to somebody else at once.
    """
    job_id = str(popped["id"])
    try:
        job = chat_declaration.ChatJobPayload.from_pop(popped)
    except (ValueError, KeyError, TypeError) as error:
        await _fault(job_id, bench, FaultReason.GENERATION_ERROR, f"the job cannot be read ({type(error).__name__})")
        return True
    is_streamed = bool(popped["payload"].get("stream_progress"))
    try:
        if bench.checks_estimate and estimated_tokens(job) > job.max_context_length:
            await _fault(job_id, bench, FaultReason.PROMPT_OVERFLOW, "the prompt is too long")
            return True
        reply = await _generate(job_id, job, bench, is_streamed=is_streamed)
    except BackendFailure as failed:
        await _fault(job_id, bench, failed.reason, str(failed))
        return not failed.is_down
    except asyncio.CancelledError:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await _fault(job_id, bench, FaultReason.GENERATION_ERROR, "the worker is leaving")
        raise
    if reply is None:
        bench.journal.say(f"job {job_id}: stopped, its request was cancelled or aborted")
        return True
    await _hand_in(job_id, reply, bench)
    return True


async def _generate(
    job_id: str, job: chat_declaration.ChatJobPayload, bench: Bench, *, is_streamed: bool
) -> Reply | None:
    """The whole reply; None when the horde does not want it any more. Raises BackendFailure."""
    reply = Reply()
    reading = asyncio.create_task(_read(job, bench, reply), name=f"generate {job_id}")
    posting = asyncio.create_task(_post(job_id, bench, reply), name=f"post {job_id}") if is_streamed else None
    try:
        if posting is not None:
            await asyncio.wait({reading, posting}, return_when=asyncio.FIRST_COMPLETED)
            if posting.done() and posting.result() is Told.STOP_GENERATING:
                return None
        await reading
        return reply
    finally:
        for task in (reading, posting):
            if task is not None and not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, BackendFailure):
                    await task


async def _read(job: chat_declaration.ChatJobPayload, bench: Bench, reply: Reply) -> None:
    async with aclosing(bench.backend.generate(job, bench.backend_model)) as chunks:
        async for chunk in chunks:
            reply.take(chunk)
    reply.finish()


async def _post(job_id: str, bench: Bench, reply: Reply) -> Told:
    """Posts what is new, one post at a time; a post whose answer was lost is sent again unchanged."""
    seq, content, reasoning = 1, 0, 0
    while True:
        await asyncio.sleep(bench.progress_every)
        new_content, new_reasoning = reply.content[content:], reply.reasoning[reasoning:]
        if not new_content and not new_reasoning:
            continue
        told: Told | None = None
        while told is None:
            try:
                told = await bench.gateway.progress(job_id, seq, new_content, new_reasoning)
            except HordeAway as away:
                await asyncio.sleep(away.retry_after or bench.progress_every)
        if told is not Told.GO_ON:
            return told
        seq, content, reasoning = seq + 1, content + len(new_content), reasoning + len(new_reasoning)


async def _hand_in(job_id: str, reply: Reply, bench: Bench) -> None:
    outcome = await bench.gateway.submit(reply.submit_body(job_id, bench.model))
    if outcome.is_taken:
        bench.journal.say(f"job {job_id}: {len(reply.content)} characters, {outcome.reward:g} kudos")
    elif outcome.is_refused:
        await _fault(job_id, bench, FaultReason.REPLY_REFUSED, outcome.detail)
    else:
        bench.journal.say(f"job {job_id}: not taken ({outcome.detail})")


async def _fault(job_id: str, bench: Bench, reason: chat_declaration.ChatFaultReason, detail: str) -> None:
    bench.journal.say(f"job {job_id}: faulted, {reason.value} ({detail})")
    body = chat_declaration.build_chat_fault_submit(job_id, bench.model, reason)
    outcome = await bench.gateway.submit(body)
    if not outcome.is_taken:
        bench.journal.say(f"job {job_id}: fault not taken ({outcome.detail})")
