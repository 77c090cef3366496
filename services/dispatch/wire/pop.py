"""ClaimJobs between proto and the rules' words."""

from uuid import UUID

from horde.contract import limits
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import workers_pb2
from services.dispatch.rules.declaration import ChatAsk, ChatLimits, PopAsk
from services.dispatch.rules.jobs import Claim
from services.dispatch.wire import messages


def ask(request: pb.ClaimJobsRequest) -> PopAsk:
    """The pop as sent. A number that is 0 was left out, but for the two lengths, which may be 0."""
    absent = PopAsk(api_key="", address="", name="", models=())
    return PopAsk(
        api_key=request.caller.api_key,
        address=request.caller.remote_address,
        name=request.name,
        models=list(request.models),
        bridge_agent=request.bridge_agent or absent.bridge_agent,
        threads=request.threads or absent.threads,
        amount=request.amount or absent.amount,
        max_length=request.max_length,
        max_context_length=request.max_context_length,
        nsfw=request.nsfw,
        softprompts=list(request.softprompts),
        priority_usernames=list(request.priority_usernames),
        chat=_chat(request.chat),
        claim_id=UUID(request.claim_id) if request.claim_id else None,
        wait_seconds=min(request.wait_seconds, limits.MAX_WAIT_SECONDS),
    )


def answer(claim: Claim) -> pb.ClaimJobsResponse:
    """What the worker got; an empty claim is an answer without generations."""
    return pb.ClaimJobsResponse(
        generation_ids=[str(generation) for generation in claim.generation_ids],
        model=claim.model,
        ttl_seconds=claim.ttl_seconds,
        chat=claim.is_chat,
        payload=claim.payload,
        softprompt=claim.softprompt,
        skipped=claim.skipped,
        messages=messages.told(claim.messages),
    )


def _chat(chat: workers_pb2.ChatDeclaration) -> ChatAsk:
    limits = chat.chat_limits
    return ChatAsk(
        chat_jobs=chat.chat_jobs,
        prompt_jobs=chat.prompt_jobs if chat.HasField("prompt_jobs") else None,
        chat_features=list(chat.chat_features),
        chat_limits=ChatLimits(
            limits.max_context_length,
            limits.max_length,
            limits.tools_max_temperature if limits.HasField("tools_max_temperature") else None,
        )
        if chat.HasField("chat_limits")
        else None,
        model_id=chat.model_id if chat.HasField("model_id") else None,
        image_transports=list(chat.image_transports),
    )
