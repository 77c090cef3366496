"""ScreenPrompt: between the proto and the words of the domain."""

from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from services.moderation.rules.screening import PromptAsk, Proxy


def prompt_ask(request: pb.ScreenPromptRequest) -> PromptAsk:
    """What ScreenPrompt asks."""
    return PromptAsk(
        account_id=request.account_id,
        flagged=request.account_flagged,
        moderator=request.account_moderator,
        address=request.address,
        prompt=request.prompt,
        texts=tuple(request.texts),
        models=tuple(request.models),
        nsfw_model=request.nsfw_model,
        request_id=request.request_id,
        wants_replacement=request.account_education or request.replacement_filter,
        proxied_account=request.proxied_account or None,
        proxy=Proxy(request.proxy_address, request.proxy_owner) if request.proxied and request.proxy_address else None,
    )
