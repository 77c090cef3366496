"""SubmitResult: a worker hands a reply in. It is verified, then claimed, paid and completed in one statement."""

from datetime import datetime, timedelta

from horde.contract import pricing, reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.dispatch import consequences, verification
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes, reports
from services.dispatch.repo.outcomes import Measured, StoredResult
from services.dispatch.rules import reply as replies
from services.dispatch.rules import submission
from services.dispatch.rules.submission import Pay, Reply, ReplyAsk, Target, Work

log = logs.get(__name__)

_read_target = durations.get_progen(outcomes.read_target)
_store_result = durations.commit(outcomes.store_result)

_RECORDED = frozenset({reasons.CHAT_SUBMIT_INVALID, reasons.CHAT_SUBMIT_NONCONFORMANT, reasons.CHAT_MODEL_MISMATCH})


@durations.submit
async def submit_result(ask: ReplyAsk, deps: Deps) -> int:
    """The reward, in hundredths of a kudo.

    Raises Refusal: InvalidJobID, InvalidAPIKey, WrongCredentials, AbortedGen, DuplicateGen, ChatSubmitInvalid,
    ChatModelMismatch, ChatSubmitNonconformant.
    """
    key_hash = hash_api_key(deps.settings.secret_key, ask.api_key)
    target = submission.owned(await _read_target(deps.store, ask.generation_id, key_hash))
    if target.faulted:
        raise submission.aborted(target)
    if target.finished:
        return _repeated(target)
    try:
        reply = await verification.accepted(ask, target, deps.jail)
    except Refusal as refusal:
        events.refused(target, refusal)
        if refusal.reason in _RECORDED and target.is_chat:
            await _record(refusal, target, deps)
        raise
    return await _store(reply, target, deps)


async def _record(refusal: Refusal, target: Target, deps: Deps) -> None:
    """Its own commit, before the refusal is answered; a failed write does not change the answer."""
    try:
        await outcomes.record_refusal(
            deps.store, target.id, message=replies.stored_reason(refusal.message), rc=refusal.reason.word
        )
    except Outage as away:
        log.warning("refusal not recorded", generation=str(target.id), why=str(away))


async def _store(reply: Reply, target: Target, deps: Deps) -> int:
    now = deps.clock.now()
    work = Work(
        model=target.model,
        reply_characters=reply.characters,
        prompt_characters=target.prompt_characters,
        max_length=target.max_length,
        validated_backend=target.validated_backend,
        owner_trusted=target.caller_trusted,
        targeted=target.targeted and deps.settings.require_matched_targeting,
    )
    amounts = submission.pay(work, deps.reference.current, censored=reply.censored)
    seconds = (now - target.start_time).total_seconds()
    tokens = pricing.counted_tokens(reply.characters, target.max_length)
    measured = Measured(tokens, submission.speed(tokens, seconds))
    ttl = timedelta(seconds=deps.settings.request_ttl_seconds)
    if reply.is_csam:
        result = await _store_reported(reply, target, amounts, measured, deps, now=now, ttl=ttl)
    else:
        result = await _store_result(deps.store, target.id, reply, amounts, measured, now=now, ttl=ttl)
    match result.outcome:
        case "stored":
            events.stored(target, reply, reward=amounts.reward, seconds=seconds)
            consequences.stored(target, result, deps)
            consequences.told(target, reply, amounts.reward, deps)
            consequences.measured(target, measured.tokens_per_second, deps)
            if target.streamed:
                # last: a caller that goes away meanwhile takes nothing with it
                await consequences.lease_gone(target.id, target.request_id, deps, ended=False)
            return amounts.reward
        case "duplicate":
            return _repeated(target)
        case "aborted":
            raise submission.aborted(target)
    raise submission.unknown_job()


async def _store_reported(
    reply: Reply, target: Target, amounts: Pay, measured: Measured, deps: Deps, *, now: datetime, ttl: timedelta
) -> StoredResult:
    """The reply and its worker's report of it in one commit."""
    async with deps.store.transaction() as unit:
        result = await _store_result(unit, target.id, reply, amounts, measured, now=now, ttl=ttl)
        if result.outcome == "stored":
            await reports.report_csam(unit, target.id, now)
    consequences.reported(deps)
    return result


def _repeated(target: Target) -> int:
    events.repeated()
    return submission.duplicate(target)
