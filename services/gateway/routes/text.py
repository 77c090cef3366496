"""Text requests: submit, status, cancel, and what was submitted."""

from horde.contract import limits, reasons
from horde.contract.text import parse_text_request
from horde.heavy import heavy
from services.gateway import waiting
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import SECONDS_TO_WAIT, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import HEADERS, Budget
from services.gateway.wire import text
from services.gateway.wire.fields import wait_seconds

_PRIVATE = (b"cache-control", b"private, no-store")


async def submit(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Queues a request. Admission is the only reader of the body, so it is parsed once."""
    body = await ask.body(limits.MAX_TEXT_BODY_BYTES)
    if ask.caller.api_key is None:
        # Of two mistakes, the body's is told first (base-domain 1.11).
        await heavy(parse_text_request, body)
    ask.api_key()
    admitted = await deps.neighbours.admit_text(text.submit_request(body, ask.caller))
    if admitted.favours_address:
        deps.throttle.favour(ask.caller)
    return text.submit_answer(admitted)


async def status(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What became of a request so far; with `wait_seconds`, as soon as that changes. The id is the permission."""
    seconds = wait_seconds(ask.query())
    return text.status_answer(
        await waiting.changed_status(deps, ask, text.status_request(ask.parameter("id")), seconds)
    )


async def cancel(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Cancels a request. The id is the permission."""
    found = await deps.neighbours.cancel_request(text.cancel_request(ask.parameter("id")))
    return text.status_answer(found.status)


async def submission(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What was submitted, for who submitted it. Nobody on the way may keep it, nor a refusal of it."""
    ask.scope.setdefault(HEADERS, []).append(_PRIVATE)
    asked = text.submission_request(ask.parameter("id"), ask.api_key())
    return text.submission_answer(await deps.neighbours.get_text_submission(asked))


_SUBMIT_REFUSALS = (
    reasons.VALIDATION_FAILED,
    reasons.NUL_BYTE_IN_PAYLOAD,
    reasons.PROMPT_EXCEEDS_CONTEXT,
    reasons.MAINTENANCE_MODE,
    reasons.ONLY_SERVICE_ACCOUNT_PROXY,
    reasons.TOO_MANY_EXTRA_SOURCE_IMAGES,
    reasons.MORE_THAN_MIN_EXTRA_SOURCE_IMAGE,
    reasons.INVALID_EXTRA_SOURCE_IMAGES,
    reasons.MISSING_PROMPT,
    reasons.REQUIRES_TRUST,
    reasons.CORRUPT_PROMPT,
    reasons.TOKEN_OVERFLOW,
    reasons.MISSING_FULL_SAMPLER_ORDER,
    reasons.TOO_MANY_STOP_SEQUENCES,
    reasons.EXCESSIVE_STOP_SEQUENCE,
    reasons.DELETED_USER,
    reasons.SHARED_KEY_EMPTY,
    reasons.SHARED_KEY_EXPIRED,
    reasons.SHARED_KEY_INSUFFICIENT_KUDOS,
    reasons.KUDOS_UPFRONT,
    reasons.NO_ELIGIBLE_WORKER,
    reasons.TIMEOUT_IP,
    reasons.STYLE_NOT_FOUND,
    reasons.WORKER_NOT_FOUND,
    reasons.TOO_MANY_PROMPTS,
)

_STATUS = "/v2/generate/text/status/{id}"

OPERATIONS = (
    Operation(
        "POST",
        "/v2/generate/text/async",
        submit,
        Budget.TEXT_SUBMIT,
        described(
            "Queue a text request.",
            body="TextRequest",
            key=Key.REQUIRED,
            answers={202: ref("Queued"), 200: ref("TextQuote")},
            refuses=_SUBMIT_REFUSALS,
        ),
    ),
    Operation(
        "GET",
        _STATUS,
        status,
        Budget.STATUS,
        described(
            "What became of a text request.",
            query={"wait_seconds": SECONDS_TO_WAIT},
            answers={200: ref("TextStatus")},
            refuses=[reasons.REQUEST_NOT_FOUND, reasons.VALIDATION_FAILED],
        ),
    ),
    Operation(
        "DELETE",
        _STATUS,
        cancel,
        Budget.STATUS,
        described("Cancel a text request.", answers={200: ref("TextStatus")}, refuses=[reasons.REQUEST_NOT_FOUND]),
    ),
    Operation(
        "GET",
        "/v2/generate/text/request/{id}",
        submission,
        document=described(
            "What was submitted as a text request.",
            key=Key.REQUIRED,
            answers={200: ref("TextSubmission")},
            refuses=[reasons.ANON_FORBIDDEN, reasons.NOT_REQUEST_OWNER, reasons.REQUEST_NOT_FOUND],
        ),
    ),
)
