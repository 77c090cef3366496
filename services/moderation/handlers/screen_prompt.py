"""ScreenPrompt: judge a prompt; write down and answer a rejection, or give the texts as they may be used."""

import asyncio
from typing import Final

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.moderation import repo
from services.moderation.countermeasures import answer_rejection
from services.moderation.deps import Deps
from services.moderation.rules.evidence import Path, capture
from services.moderation.rules.screening import Passed, PromptAsk, Rejected, screen

_CAPTURE_SECONDS: Final = 2.0
"""The refusal must not wait longer for its evidence than its caller waits for the refusal."""

_AFTERMATH_SECONDS: Final = 3.0
"""Nor for the evidence and all that the prompt costs its address together: what is late goes on behind the answer."""


async def screen_prompt(ask: PromptAsk, deps: Deps) -> Passed:
    """The texts to be used.

    Raises Refusal (CorruptPrompt, PromptRewrittenAway) after the rejection was recorded, and StoreUnavailable when the
    filters cannot be read: a prompt that cannot be judged does not pass.
    """
    filters = (await deps.filters.get()).timed(deps.settings.moderation_filter_seconds)
    # Patterns run in a thread: they let go of the interpreter, and a slow one holds up no other call.
    verdict = await asyncio.to_thread(screen, ask, filters)
    if isinstance(verdict, Passed):
        deps.events.passed(rewritten=verdict.rewritten)
        return verdict
    deps.events.rejected(verdict.path, ask.account_id, ask.request_id)
    # `wait` cancels nothing: hanging up must not be a way to leave no trace.
    await asyncio.wait([deps.keep_going(_act_on(verdict, ask, deps))], timeout=_AFTERMATH_SECONDS)
    reason = reasons.CORRUPT_PROMPT if verdict.path is Path.FILTER else reasons.PROMPT_REWRITTEN_AWAY
    raise Refusal(reason, _message(verdict, ask))


async def _act_on(verdict: Rejected, ask: PromptAsk, deps: Deps) -> None:
    event_id = await _record(verdict.path, ask, deps)
    try:
        await answer_rejection(verdict.path, ask, event_id, deps)
    except Exception as error:  # noqa: BLE001 - the refusal stands, whatever becomes of the address
        deps.events.countermeasure_failed(error)


async def _record(path: Path, ask: PromptAsk, deps: Deps) -> int | None:
    """Writes the evidence, moderators' too, at most once; gives the event. Whatever goes wrong, the refusal stands."""
    try:
        evidence = capture(
            account_id=ask.account_id,
            origin=ask.address,
            models=ask.models,
            prompt=ask.prompt,
            reason=path,
            secret=deps.settings.secret_key,
            proxied_account=ask.proxied_account,
        )
        async with asyncio.timeout(_CAPTURE_SECONDS):
            event_id, _ = await repo.add_event(deps.store, evidence)
    except Exception as error:  # noqa: BLE001 - an error that escaped would quote the prompt in the log
        deps.events.capture_failed(error)
        return None
    deps.events.captured(path, event_id)
    return event_id


def _message(verdict: Rejected, ask: PromptAsk) -> str:
    if verdict.too_long:
        return "This prompt appears to violate the terms of service and is too long to be rewritten."
    if verdict.path is Path.FILTER:
        return (
            "This prompt appears to violate the terms of service and will be reported."
            " Please contact us if you think this is a mistake."
        )
    if ask.nsfw_model:
        return "This prompt cannot be allowed with models that are marked as NSFW."
    return "This prompt cannot be allowed."
