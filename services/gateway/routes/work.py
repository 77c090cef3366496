"""What a text or chat worker calls: pop, progress, submit."""

from starlette.exceptions import HTTPException

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from services.gateway import waiting
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import pop as pop_wire
from services.gateway.wire import progress as progress_wire
from services.gateway.wire import submit as submit_wire


async def pop(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A worker asks for jobs, and may wait for one. Always 200 when it may ask, with or without one."""
    message = pop_wire.read(await ask.body(limits.MAX_WORKER_BODY_BYTES), ask.caller)
    ask.api_key()
    if message.wait_seconds > 0:
        return pop_wire.answer(await waiting.jobs(deps, ask, message))
    return pop_wire.answer(await deps.neighbours.claim_jobs(message))


async def progress(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A worker tells what it has generated since its last post."""
    body = await ask.object(limits.MAX_WORKER_BODY_BYTES)
    message = progress_wire.read(body, ask.caller.api_key or "")
    ask.api_key()
    return progress_wire.answer(await deps.neighbours.append_progress(message))


async def submit(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A worker hands in a reply, or gives the job up."""
    submitted = submit_wire.read(await _submitted(ask), ask.caller)
    ask.api_key()
    match submitted:
        case submit_wire.Fault(message):
            await deps.neighbours.submit_fault(message)
            return submit_wire.NO_REWARD
        case submit_wire.Reply(message):
            return submit_wire.answer(await deps.neighbours.submit_result(message))


async def _submitted(ask: Exchange) -> dict[str, object]:
    """The body. Workers repeat a submit unless told 400, 403 or 404, so a bad one is always 400 (decision 23)."""
    try:
        return await ask.object(limits.MAX_CHAT_BODY_BYTES)
    except HTTPException as wrong:
        raise HTTPException(400, wrong.detail) from None
    except Refusal as wrong:
        if wrong.reason is reasons.REQUEST_TOO_LARGE:
            raise Refusal(reasons.BAD_REQUEST, wrong.message) from None
        raise


OPERATIONS = (
    Operation(
        "POST",
        "/v2/generate/text/pop",
        pop,
        Budget.WORKER,
        described(
            "Ask for jobs.",
            body="Pop",
            key=Key.REQUIRED,
            answers={200: ref("Job")},
            refuses=[
                reasons.CHAT_DECLARATION_INVALID,
                reasons.NUL_BYTE_IN_PAYLOAD,
                reasons.TIMEOUT_IP,
                reasons.TOO_MANY_NEW_IPS,
                reasons.UNSAFE_IP,
                reasons.PROFANE_WORKER_NAME,
                reasons.PROFANE_BRIDGE_AGENT,
                reasons.WORKER_NOT_FOUND,
                reasons.POLYMORPHIC_NAME_CONFLICT,
                reasons.INVALID_PRIORITY_USERNAME,
                reasons.WRONG_CREDENTIALS,
                reasons.ANON_FORBIDDEN_WORKER,
                reasons.WORKER_MAINTENANCE,
                reasons.WORKER_FLAGGED_MAINTENANCE,
                reasons.WORKER_INVITE_ONLY,
                reasons.TOO_MANY_WORKERS,
                reasons.TOO_MANY_WORKERS_TRUSTED,
                reasons.TOO_MANY_SAME_IPS,
            ],
        ),
    ),
    Operation(
        "POST",
        "/v2/generate/text/progress",
        progress,
        Budget.WORKER,
        described(
            "Post what was generated since the last post.",
            body="Progress",
            key=Key.REQUIRED,
            answers={200: ref("Accepted")},
            refuses=[
                reasons.WRONG_CREDENTIALS,
                reasons.CHAT_JOB_ABORTED,
                reasons.CHAT_PROGRESS_NOT_STREAMING,
                reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE,
                reasons.CHAT_PROGRESS_CAP_REACHED,
            ],
        ),
    ),
    Operation(
        "POST",
        "/v2/generate/text/submit",
        submit,
        Budget.WORKER,
        described(
            "Hand in a reply, or give a job up.",
            body="Reply",
            key=Key.REQUIRED,
            answers={200: ref("Reward")},
            refuses=[
                reasons.INVALID_JOB_ID,
                reasons.WRONG_CREDENTIALS,
                reasons.DUPLICATE_GEN,
                reasons.ABORTED_GEN,
                reasons.CHAT_SUBMIT_INVALID,
                reasons.CHAT_SUBMIT_NONCONFORMANT,
                reasons.CHAT_MODEL_MISMATCH,
            ],
        ),
    ),
)
