"""ScreenPrompt: judge a prompt; write down and answer a rejection, or give the texts as they may be used."""

import asyncio
from typing import Final

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.live import LiveUnavailable
from services.moderation import repo
from services.moderation.deps import Deps
from services.moderation.rules.evidence import Path, capture
from services.moderation.rules.ip_subject import ip_subject
from services.moderation.rules.screening import Passed, PromptAsk, Rejected, screen
from services.moderation.rules.timeouts import model_rejection_times_out

_CAPTURE_SECONDS: Final = 2.0
"""The refusal must not wait longer for its evidence than its caller waits for the refusal."""


async def screen_prompt(ask: PromptAsk, deps: Deps) -> Passed:
    """The texts to be used.

    Raises Refusal (CorruptPrompt) after the rejection was recorded, and StoreUnavailable when the filters cannot be
    read: a prompt that cannot be judged does not pass.
    """
    filters = (await deps.filters.get()).timed(deps.settings.moderation_filter_seconds)
    # Patterns run in a thread: they let go of the interpreter, and a slow one holds up no other call.
    verdict = await asyncio.to_thread(screen, ask, filters)
    if isinstance(verdict, Passed):
        deps.events.passed(rewritten=verdict.rewritten)
        return verdict
    deps.events.rejected(verdict.path, ask.account_id, ask.request_id)
    # Hanging up must not be a way to leave no trace.
    await asyncio.shield(deps.keep_going(_act_on(verdict, ask, deps)))
    raise Refusal(reasons.CORRUPT_PROMPT, _message(verdict.path, ask))


async def _act_on(verdict: Rejected, ask: PromptAsk, deps: Deps) -> None:
    await _record(verdict.path, ask, deps)
    if ask.moderator:
        return  # they probe the filters on purpose
    subject = ip_subject(ask.address)
    if subject is None:
        return
    try:
        if await _earns_timeout(verdict.path, subject, deps):
            deps.events.timed_out(verdict.path, await deps.addresses.report_suspicion(subject))
    except LiveUnavailable as away:
        deps.events.countermeasure_failed(away)


async def _record(path: Path, ask: PromptAsk, deps: Deps) -> None:
    """Writes the evidence, moderators' too, at most once. Whatever goes wrong, the refusal stands."""
    try:
        evidence = capture(
            account_id=ask.account_id,
            origin=ask.address,
            models=ask.models,
            prompt=ask.prompt,
            reason=path,
            secret=deps.settings.secret_key,
        )
        async with asyncio.timeout(_CAPTURE_SECONDS):
            event_id = await repo.add_event(deps.store, evidence)
    except Exception as error:  # noqa: BLE001 - an error that escaped would quote the prompt in the log
        deps.events.capture_failed(error)
        return
    deps.events.captured(path, event_id)


async def _earns_timeout(path: Path, subject: str, deps: Deps) -> bool:
    if path is Path.FILTER:
        return True
    raid = await _is_raid(deps)
    try:
        count = await deps.addresses.count_model_rejection(subject)
    except LiveUnavailable:
        count = 0
    return model_rejection_times_out(count, threshold=deps.settings.model_rejection_timeout_threshold, raid=raid)


async def _is_raid(deps: Deps) -> bool:
    try:
        return (await deps.modes.get()).raid
    except Exception as error:  # noqa: BLE001 - without Postgres there is no raid mode, and the refusal stands
        deps.events.countermeasure_failed(error)
        return False


def _message(path: Path, ask: PromptAsk) -> str:
    if path is Path.FILTER:
        return (
            "This prompt appears to violate the terms of service and will be reported."
            " Please contact us if you think this is a mistake."
        )
    if ask.nsfw_model:
        return "This prompt cannot be allowed with models that are marked as NSFW."
    return "This prompt cannot be allowed."
