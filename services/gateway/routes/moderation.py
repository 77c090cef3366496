"""What moderators review. Every route asks who it is before it looks at anything else that was sent."""

import asyncio
from http import HTTPStatus

from starlette.exceptions import HTTPException

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.review import (
    ACCESS_QUERY,
    EVENTS_QUERY,
    HISTORY_QUERY,
    PREVIEW_QUERY,
    QUEUES_QUERY,
)
from services.gateway.documents.shapes import Schema, ref
from services.gateway.endpoints import Exchange, Handler, Operation
from services.gateway.moderators import moderator
from services.gateway.throttle import Budget
from services.gateway.wire import queues, review
from services.gateway.wire.operations import Parameters

_ALL = "/v2/operations/moderation"
_EVENTS = f"{_ALL}/prompts"
_MAX_BODY = 32 * 1024
"""Bytes of a note's body: 2,000 characters, each as two escapes of six letters, and some."""

_NO_NOTE = frozenset(
    {reasons.BAD_REQUEST, reasons.VALIDATION_FAILED, reasons.NUL_BYTE_IN_PAYLOAD, reasons.REQUEST_TOO_LARGE}
)


async def review_queues(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Accounts before trust, and paused workers."""
    await moderator(deps, ask)
    promotions, paused = queues.requests(Parameters(ask.pairs()))
    calls = deps.neighbours.review
    return queues.answer(*await asyncio.gather(calls.list_promotions(promotions), calls.list_paused_workers(paused)))


async def list_events(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One page of recorded events."""
    reviewer = await moderator(deps, ask)
    message = review.events_request(Parameters(ask.pairs()), reviewer)
    return review.events_answer(await deps.neighbours.review.list_events(message))


async def add_note(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator writes about an event."""
    reviewer = await moderator(deps, ask)
    try:
        body = await ask.object(_MAX_BODY)
    except Refusal as refused:
        raise review.invalid_note() if refused.reason in _NO_NOTE else refused from None
    except HTTPException as refused:
        raise review.invalid_note() if refused.status_code == HTTPStatus.UNSUPPORTED_MEDIA_TYPE else refused from None
    message = review.note_request(body, ask.parameter("id"), reviewer)
    return review.note_answer(await deps.neighbours.review.add_note(message), message.event_id)


async def mark(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator has seen or dismissed an event."""
    reviewer = await moderator(deps, ask)
    message = review.mark_request(await ask.object(_MAX_BODY), ask.parameter("id"), reviewer)
    return review.mark_answer(await deps.neighbours.review.mark_event(message), message.event_id)


async def suspicion_history(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One page of the history of worker suspicions."""
    await moderator(deps, ask)
    message = review.history_request(Parameters(ask.pairs()))
    return review.history_answer(await deps.neighbours.review.list_suspicion_history(message))


async def access_log(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One page of the log of who was given which texts."""
    await moderator(deps, ask)
    message = review.access_request(Parameters(ask.pairs()))
    return review.access_answer(await deps.neighbours.review.list_accesses(message))


async def preview(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What a pass of retention would remove with other windows."""
    await moderator(deps, ask)
    message = review.preview_request(Parameters(ask.pairs()))
    return review.preview_answer(await deps.neighbours.review.preview_retention(message))


def _operation(
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answers: dict[int, Schema],
    refuses: tuple[Reason, ...],
    *,
    query: dict[str, Schema] | None = None,
    body: str | None = None,
) -> Operation:
    told = (reasons.MISSING_API_KEY, reasons.NOT_MODERATOR, *refuses)
    document = described(summary, key=Key.REQUIRED, answers=answers, refuses=told, query=query, body=body)
    budget = Budget.REVIEW_READ if method == "GET" else Budget.REVIEW_WRITE
    return Operation(method, path, handler, budget, document, private=True)


_PAGED = (reasons.INVALID_OPERATIONS_LIMIT, reasons.INVALID_OPERATIONS_CURSOR)

OPERATIONS = (
    _operation(
        "GET",
        _ALL,
        review_queues,
        "Accounts that are or would be trusted next, and paused workers.",
        {200: ref("ReviewQueues")},
        (
            reasons.INVALID_OPERATIONS_LIMIT,
            reasons.INVALID_WORKER_TYPE,
            reasons.INVALID_SUSPICION_ID,
            reasons.INVALID_OPERATIONS_FILTER,
            reasons.INVALID_OPERATIONS_SORT,
        ),
        query=QUEUES_QUERY,
    ),
    _operation(
        "GET",
        _EVENTS,
        list_events,
        "Recorded events, newest first.",
        {200: ref("ModerationEvents")},
        (
            *_PAGED,
            reasons.INVALID_MODERATION_EVENT_ID,
            reasons.INVALID_MODERATION_TIME_RANGE,
            reasons.INVALID_MODERATION_REASON,
            reasons.INVALID_MODERATION_ADDRESS_FILTER,
            reasons.INVALID_USER_ID,
            reasons.INVALID_WORKER_ID,
            reasons.INVALID_PROXIED_ACCOUNT,
            reasons.INVALID_OPERATIONS_FILTER,
        ),
        query=EVENTS_QUERY,
    ),
    _operation(
        "POST",
        f"{_EVENTS}/{{id}}/notes",
        add_note,
        "Write about an event. A note is for good, and keeps its event from retention.",
        {201: ref("ModerationNote")},
        (reasons.INVALID_MODERATION_NOTE, reasons.MODERATION_EVENT_NOT_FOUND),
        body="NewModerationNote",
    ),
    _operation(
        "PUT",
        f"{_EVENTS}/{{id}}/mark",
        mark,
        "Mark an event as seen or dismissed, which keeps nothing.",
        {200: ref("ModerationMarks")},
        (reasons.INVALID_MODERATION_MARK, reasons.MODERATION_EVENT_NOT_FOUND),
        body="NewModerationMark",
    ),
    _operation(
        "GET",
        f"{_ALL}/worker_suspicion_events",
        suspicion_history,
        "What workers were suspected of, newest first.",
        {200: ref("SuspicionHistory")},
        (*_PAGED, reasons.INVALID_WORKER_ID, reasons.INVALID_USER_ID),
        query=HISTORY_QUERY,
    ),
    _operation(
        "GET",
        f"{_ALL}/access_log",
        access_log,
        "Which moderator was given which texts, newest first.",
        {200: ref("AccessLog")},
        (*_PAGED, reasons.INVALID_MODERATION_EVENT_ID, reasons.INVALID_USER_ID),
        query=ACCESS_QUERY,
    ),
    _operation(
        "GET",
        f"{_ALL}/retention/preview",
        preview,
        "What retention would remove with these windows. Nothing is changed.",
        {200: ref("RetentionPreview")},
        (reasons.BAD_REQUEST,),
        query=PREVIEW_QUERY,
    ),
)
