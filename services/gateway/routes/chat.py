"""Chat requests: submit, status, cancel."""

from horde.contract import reasons
from horde.contract.chat import parse_chat_request
from horde.heavy import heavy
from services.gateway import waiting
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import SECONDS_TO_WAIT, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import chat
from services.gateway.wire.fields import wait_seconds


async def submit(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Queues a request. Admission is the only reader of the body, so it is parsed once."""
    body = await ask.body()
    if ask.caller.api_key is None:
        # Of two mistakes, the body's is told first (base-domain 1.11).
        await heavy(parse_chat_request, body)
    ask.api_key()
    admitted = await deps.neighbours.admit_chat(chat.submit_request(body, ask.caller))
    if admitted.favours_address:
        deps.throttle.favour(ask.caller)
    return chat.submit_answer(admitted)


async def status(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What became of a request so far; with `wait_seconds`, as soon as that changes. The id is the permission."""
    seconds = wait_seconds(ask.query())
    return chat.status_answer(
        await waiting.changed_status(deps, ask, chat.status_request(ask.parameter("id")), seconds)
    )


async def cancel(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Cancels a request. The id is the permission."""
    found = await deps.neighbours.cancel_request(chat.cancel_request(ask.parameter("id")))
    return chat.status_answer(found.status)


_SUBMIT_REFUSALS = (
    reasons.UNSUPPORTED_CHAT_PARAMETER,
    reasons.CHAT_REQUEST_CONFLICT,
    reasons.OPERATION_KEY_CONFLICT,
    reasons.NUL_BYTE_IN_PAYLOAD,
    reasons.PROMPT_EXCEEDS_CONTEXT,
    reasons.TOKEN_OVERFLOW,
    reasons.TOO_MANY_STOP_SEQUENCES,
    reasons.EXCESSIVE_STOP_SEQUENCE,
    reasons.CHAT_KUDOS_CAP_EXCEEDED,
    reasons.TOO_MANY_EXTRA_SOURCE_IMAGES,
    reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
    reasons.SOURCE_IMAGE_RESOLUTION_EXCEEDED,
    reasons.SOURCE_IMAGE_UNREADABLE,
    reasons.SOURCE_IMAGE_URL_REFUSED,
    reasons.SOURCE_IMAGE_URL_INVALID,
    reasons.CORRUPT_PROMPT,
    reasons.MAINTENANCE_MODE,
    reasons.KUDOS_UPFRONT,
    reasons.NO_ELIGIBLE_WORKER,
    reasons.TIMEOUT_IP,
    reasons.DELETED_USER,
    reasons.UNKNOWN_CHAT_MODEL,
    reasons.WORKER_NOT_FOUND,
    reasons.TOO_MANY_PROMPTS,
)

_STATUS = "/v2/generate/chat/status/{id}"

OPERATIONS = (
    Operation(
        "POST",
        "/v2/generate/chat/async",
        submit,
        Budget.CHAT_SUBMIT,
        described(
            "Queue a chat request.",
            body="ChatRequest",
            key=Key.REQUIRED,
            answers={202: ref("Queued"), 200: ref("QuotedOrRepeated")},
            refuses=_SUBMIT_REFUSALS,
        ),
    ),
    Operation(
        "GET",
        _STATUS,
        status,
        Budget.STATUS,
        described(
            "What became of a chat request.",
            query={"wait_seconds": SECONDS_TO_WAIT},
            answers={200: ref("ChatStatus")},
            refuses=[reasons.REQUEST_NOT_FOUND, reasons.VALIDATION_FAILED],
        ),
    ),
    Operation(
        "DELETE",
        _STATUS,
        cancel,
        Budget.STATUS,
        described("Cancel a chat request.", answers={200: ref("ChatStatus")}, refuses=[reasons.REQUEST_NOT_FOUND]),
    ),
)
