"""What becomes of a request's content in AdmitChat: screened, checked against the models, fitted, made a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from horde.contract import limits
from horde.contract.chat import ChatRequest
from horde.contract.chat.flattening import flatten
from horde.contract.chat.images import check_total_size, count_images, image_paths, image_urls, naming_images
from horde.contract.chat.request import Message
from services.admission import durations
from services.admission.deps import Deps
from services.admission.handlers import judging
from services.admission.handlers.judging import Prompt
from services.admission.rules import models, screening, sizing
from services.admission.rules.address import Address
from services.admission.rules.facts import Account, Caller, Offer, Submission
from services.admission.rules.row import Origin, Row, build, matched_columns
from services.admission.rules.sizing import Sized


@dataclass(frozen=True, slots=True)
class Shape:
    """A request's final form, and the columns that workers are matched on."""

    sized: Sized
    matched: Mapping[str, Any]


@durations.prompt_filter
async def screen(
    request: ChatRequest, account: Account, address: Address, new_id: UUID, deps: Deps
) -> Sequence[Message]:
    """The messages as moderation lets them through. Moderation is asked only when the snapshot cannot clear them."""
    if not judging.has_to_be_judged(request.models, account, deps):
        return request.messages
    prompt = Prompt(
        whole=flatten(request.messages, request.tools),
        texts=screening.screened_texts(request.messages),
        models=request.models,
    )
    rewritten = await judging.judged(prompt, account, address, new_id, deps)
    return request.messages if rewritten is None else screening.with_texts(request.messages, rewritten)


def shape(
    request: ChatRequest, messages: Sequence[Message], account: Account, offers: Sequence[Offer], deps: Deps
) -> Shape:
    """Steps 6 to 8: the models, the longest reply, the context, the rules of params."""
    reference = deps.reference.current
    models.refuse_unserved(request, offers, reference)
    max_length, lowered = models.lowered(request.max_length, offers)
    if lowered:
        deps.events.lowered(requested=request.max_length, declared=max_length, dry_run=request.horde.dry_run)
    try:
        sized = sizing.size(request, messages, max_length, models.widest_context(offers))
    except sizing.DoesNotFit as refused:
        deps.events.did_not_fit(mode=refused.mode)
        raise
    deps.events.fitted(sized, mode=request.horde.context_fit)
    sizing.refuse_bad_params(sized, request.sampling.get("stop_sequence", ()))
    sized = replace(sized, adjustments=[*lowered, *sized.adjustments])
    speed = models.lowest_speed(request, reference)
    return Shape(sized, matched_columns(request, sized, min_speed=speed, account_id=account.id))


def image_cap(account: Account) -> int:
    """Bytes that all images of this account's request may have together."""
    return limits.MAX_CHAT_IMAGE_TOTAL_BYTES if account.trusted else limits.MAX_CHAT_IMAGE_TOTAL_BYTES_UNTRUSTED


def kept_image_paths(request: ChatRequest, shaped: Shape) -> Sequence[str]:
    """Where the images that are kept stand in the body: they are its last, since the oldest turns are dropped first."""
    paths = image_paths(request.messages)
    return paths[len(paths) - count_images(shaped.sized.messages) :]


def refuse_big_images(request: ChatRequest, shaped: Shape, account: Account) -> None:
    """The data URLs that are kept, against the account's own cap."""
    with naming_images(kept_image_paths(request, shaped)):
        check_total_size(image_urls(shaped.sized.messages), image_cap(account))


def origin(
    account: Account, known: Submission, address: Address, caller: Caller, traceparent: str | None, mark: str | None
) -> Origin:
    """Where the request comes from, as it is stored."""
    return Origin(
        account_id=account.id,
        sharedkey_id=None if known.sharedkey is None else known.sharedkey.id,
        address=address.text,
        client_agent=caller.client_agent.replace("\0", ""),
        traceparent=traceparent,
        fingerprint=mark,
    )


def row(
    request: ChatRequest, shaped: Shape, source: Origin, *, new_id: UUID, now: datetime, quote: int, deps: Deps
) -> Row:
    """The request as it is queued; `submitted_prompt` is what the client sent, before any rewrite."""
    settings = deps.settings
    kept_as_sent = shaped.sized.messages is request.messages
    return build(
        request,
        shaped.sized,
        shaped.matched,
        source,
        id=new_id,
        created=now,
        lifetime=timedelta(seconds=settings.request_ttl_seconds),
        quote=quote,
        submitted_prompt=shaped.sized.prompt if kept_as_sent else flatten(request.messages, request.tools),
        offload_bytes=settings.chat_messages_offload_bytes if settings.chat_messages_offload_enabled else None,
    )
