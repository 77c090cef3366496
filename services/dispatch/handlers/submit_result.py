"""SubmitResult: a worker hands a reply in. It is verified, then claimed, paid and completed in one statement."""

from dataclasses import replace
from datetime import timedelta

from horde.contract import pricing, reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.dispatch import consequences
from services.dispatch.deps import Deps
from services.dispatch.events import outcomes as events
from services.dispatch.repo import outcomes
from services.dispatch.rules import reply as replies
from services.dispatch.rules import submission
from services.dispatch.rules.reply import ChatReply, FormatCheck
from services.dispatch.rules.schema_check import Verdict
from services.dispatch.rules.submission import Reply, ReplyAsk, Target, Work

log = logs.get(__name__)

_RECORDED = frozenset({reasons.CHAT_SUBMIT_INVALID, reasons.CHAT_SUBMIT_NONCONFORMANT, reasons.CHAT_MODEL_MISMATCH})

_COMPLAINTS = {
    Verdict.NOT_JSON: "The reply's content is not JSON, which the request's response_format asks for.",
    Verdict.NOT_AN_OBJECT: "The reply's content is not a JSON object, which the request's response_format asks for.",
    Verdict.MISMATCH: "The reply's content does not match the request's JSON schema.",
    Verdict.UNCOMPILABLE: "The request's JSON schema cannot be compiled, so the reply cannot be shown to match it.",
}


async def submit_result(ask: ReplyAsk, deps: Deps) -> int:
    """The reward, in hundredths of a kudo.

    Raises Refusal: InvalidJobID, InvalidAPIKey, WrongCredentials, AbortedGen, DuplicateGen, ChatSubmitInvalid,
    ChatModelMismatch, ChatSubmitNonconformant.
    """
    key_hash = hash_api_key(deps.settings.secret_key, ask.api_key)
    target = submission.owned(await outcomes.read_target(deps.store, ask.generation_id, key_hash))
    if target.faulted:
        raise submission.aborted(target)
    if target.finished:
        return _repeated(target)
    try:
        reply = await _accepted(ask, target, deps)
    except Refusal as refusal:
        events.refused(target, refusal)
        if refusal.reason in _RECORDED and target.is_chat:
            await _record(refusal, target, deps)
        raise
    return await _store(reply, target, deps)


async def _accepted(ask: ReplyAsk, target: Target, deps: Deps) -> Reply:
    """The reply as it may be stored."""
    submission.check_form(ask, is_chat=target.is_chat)
    metadata = replies.parse_gen_metadata(ask.gen_metadata)
    censored, metadata = replies.censorship(ask.state, metadata)
    reply = Reply(replies.without_nul(ask.text or ""), None, 0, censored, metadata, ask.seed)
    if not target.is_chat:
        return reply
    chat = replies.parse_chat_reply(ask.message, ask.finish_reason, ask.native_finish_reason, ask.counts)
    submission.check_model(ask, target.assigned_model)
    verified = replies.verify(chat, target.extras, strict=target.strict)
    if verified.format_check is not None:
        await _check_format(verified.format_check, deps)
    kept: ChatReply = verified.reply
    return replace(reply, text=kept.content or "", chat=kept, dropped_calls=verified.dropped_calls)


async def _check_format(wanted: FormatCheck, deps: Deps) -> None:
    verdict = await deps.jail.check(wanted.content, wanted.schema)
    if verdict is not Verdict.OK:
        raise Refusal(reasons.CHAT_SUBMIT_NONCONFORMANT, _COMPLAINTS[verdict])


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
    result = await outcomes.store_result(
        deps.store,
        target.id,
        reply,
        amounts,
        outcomes.Measured(tokens, submission.speed(tokens, seconds)),
        now=now,
        ttl=timedelta(seconds=deps.settings.request_ttl_seconds),
    )
    match result.outcome:
        case "stored":
            events.stored(target, reply, reward=amounts.reward, seconds=seconds)
            consequences.stored(target, result, deps)
            return amounts.reward
        case "duplicate":
            return _repeated(target)
        case "aborted":
            raise submission.aborted(target)
    raise submission.unknown_job()


def _repeated(target: Target) -> int:
    events.repeated()
    return submission.duplicate(target)
