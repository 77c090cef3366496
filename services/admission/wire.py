"""Proto to domain and back."""

from collections.abc import Iterable

from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import pricing
from horde.store import Record
from horde_pb.admission.v1 import admission_service_pb2 as pb
from horde_pb.vocabulary.v1 import caller_pb2
from services.admission.rules.answers import Admitted, Outcome
from services.admission.rules.facts import Ask, Caller, FoundAccount

_OUTCOMES = {
    Outcome.QUEUED: pb.ADMIT_OUTCOME_QUEUED,
    Outcome.REPEATED: pb.ADMIT_OUTCOME_REPEATED,
    Outcome.QUOTED: pb.ADMIT_OUTCOME_QUOTED,
}


def ask(request: pb.AdmitChatRequest | pb.AdmitTextRequest, traceparent: str | None) -> Ask:
    """One submission."""
    return Ask(caller=_caller(request.caller), body=request.body, traceparent=traceparent)


def _caller(caller: caller_pb2.Caller) -> Caller:
    return Caller(
        api_key=caller.api_key,
        remote_address=caller.remote_address,
        proxied_for=caller.proxied_for,
        proxy_passkey=caller.proxy_passkey,
        client_agent=caller.client_agent or "unknown:0:unknown",
    )


def admitted(answer: Admitted) -> pb.AdmitChatResponse:
    """The answer, its kudos whole."""
    created = Timestamp()
    created.FromDatetime(answer.created)
    return pb.AdmitChatResponse(
        outcome=_OUTCOMES[answer.outcome],
        request_id="" if answer.request_id is None else str(answer.request_id),
        kudos=pricing.whole(answer.kudos),
        message=answer.message,
        resolved=answer.resolved,
        created=created,
        favours_address=answer.favours_address,
    )


def text_admitted(answer: Admitted) -> pb.AdmitTextResponse:
    """The answer to a text submission, its kudos whole."""
    return pb.AdmitTextResponse(
        outcome=_OUTCOMES[answer.outcome],
        request_id="" if answer.request_id is None else str(answer.request_id),
        kudos=pricing.whole(answer.kudos),
        message=answer.message,
        resolved=answer.resolved,
        favours_address=answer.favours_address,
    )


def account(found: FoundAccount) -> pb.FindAccountResponse:
    """An account."""
    return pb.FindAccountResponse(
        id=found.id,
        username=found.alias,
        kudos_hundredths=found.kudos,
        trusted=found.trusted,
        moderator=found.moderator,
        flagged=found.flagged,
        concurrency=found.concurrency,
        deleted=found.deleted,
    )


def kudos_flow(hours: Iterable[Record]) -> pb.GetKudosFlowResponse:
    """The hours of the ledger."""
    answer = pb.GetKudosFlowResponse()
    for row in hours:
        hour = answer.hours.add(
            paid_hundredths=row["paid"], earned_hundredths=row["earned"], uptime_hundredths=row["uptime"]
        )
        hour.hour.FromDatetime(row["hour"])
    return answer
