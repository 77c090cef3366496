"""From what a worker sent to what may be stored: the rules in their order, and the one check that needs the jail."""

from dataclasses import replace

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch.events import durations
from services.dispatch.jail.cells import Jail
from services.dispatch.rules import reply as replies
from services.dispatch.rules import submission
from services.dispatch.rules.reply import FormatCheck
from services.dispatch.rules.schema_check import Verdict
from services.dispatch.rules.submission import Reply, ReplyAsk, Target

_COMPLAINTS = {
    Verdict.NOT_JSON: "The reply's content is not JSON, which the request's response_format asks for.",
    Verdict.NOT_AN_OBJECT: "The reply's content is not a JSON object, which the request's response_format asks for.",
    Verdict.MISMATCH: "The reply's content does not match the request's JSON schema.",
    Verdict.UNCOMPILABLE: "The request's JSON schema cannot be compiled, so the reply cannot be shown to match it.",
}


@durations.state_handling
async def accepted(ask: ReplyAsk, target: Target, jail: Jail) -> Reply:
    """The reply as it may be stored.

    Raises Refusal: ChatSubmitInvalid, ChatModelMismatch, ChatSubmitNonconformant, ValidationFailed.
    """
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
        await _check_format(verified.format_check, jail)
    kept = verified.reply
    return replace(reply, text=kept.content or "", chat=kept, dropped_calls=verified.dropped_calls)


async def _check_format(wanted: FormatCheck, jail: Jail) -> None:
    verdict = await jail.check(wanted.content, wanted.schema)
    if verdict is not Verdict.OK:
        raise Refusal(reasons.CHAT_SUBMIT_NONCONFORMANT, _COMPLAINTS[verdict])
