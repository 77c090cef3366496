"""What a caller is told: the only table of HTTP statuses. Sentences come with the refusals."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

import orjson
from starlette.exceptions import HTTPException

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc.client import NeighbourUnavailable
from services.gateway.answers import Answer, Header
from services.gateway.bodies import Disconnected

STATUS: Mapping[Reason, int] = MappingProxyType(
    {
        reasons.BAD_REQUEST: 400,
        reasons.VALIDATION_FAILED: 400,
        reasons.REQUEST_TOO_LARGE: 413,
        reasons.RATE_LIMIT_EXCEEDED: 429,
        reasons.NUL_BYTE_IN_PAYLOAD: 400,
        reasons.UNSUPPORTED_CHAT_PARAMETER: 400,
        reasons.CHAT_REQUEST_CONFLICT: 400,
        reasons.OPERATION_KEY_CONFLICT: 400,
        reasons.MISSING_PROMPT: 400,
        reasons.MISSING_FULL_SAMPLER_ORDER: 400,
        reasons.TOKEN_OVERFLOW: 400,
        reasons.TOO_MANY_STOP_SEQUENCES: 400,
        reasons.EXCESSIVE_STOP_SEQUENCE: 400,
        reasons.PROMPT_EXCEEDS_CONTEXT: 400,
        reasons.CHAT_KUDOS_CAP_EXCEEDED: 400,
        reasons.TOO_MANY_EXTRA_SOURCE_IMAGES: 400,
        reasons.MORE_THAN_MIN_EXTRA_SOURCE_IMAGE: 400,
        reasons.INVALID_EXTRA_SOURCE_IMAGES: 400,
        reasons.SOURCE_IMAGE_SIZE_EXCEEDED: 400,
        reasons.SOURCE_IMAGE_RESOLUTION_EXCEEDED: 400,
        reasons.SOURCE_IMAGE_UNREADABLE: 400,
        reasons.SOURCE_IMAGE_URL_REFUSED: 400,
        reasons.SOURCE_IMAGE_URL_INVALID: 400,
        reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE: 503,
        reasons.INVALID_API_KEY: 401,
        reasons.NOT_REQUEST_OWNER: 403,
        reasons.ONLY_SERVICE_ACCOUNT_PROXY: 400,
        reasons.REQUIRES_TRUST: 400,
        reasons.DELETED_USER: 403,
        reasons.SHARED_KEY_EMPTY: 403,
        reasons.SHARED_KEY_EXPIRED: 403,
        reasons.SHARED_KEY_INSUFFICIENT_KUDOS: 403,
        reasons.KUDOS_UPFRONT: 403,
        reasons.TIMEOUT_IP: 403,
        reasons.CORRUPT_PROMPT: 400,
        reasons.PROMPT_REWRITTEN_AWAY: 400,
        reasons.TOO_MANY_PROMPTS: 429,
        reasons.MAINTENANCE_MODE: 400,
        reasons.CHAT_ADMISSION_DISABLED: 503,
        reasons.UNKNOWN_CHAT_MODEL: 404,
        reasons.NO_ELIGIBLE_WORKER: 403,
        reasons.WORKER_NOT_FOUND: 404,
        reasons.STYLE_NOT_FOUND: 404,
        reasons.REQUEST_NOT_FOUND: 404,
        reasons.NOT_MODERATOR: 403,
        reasons.FORBIDDEN: 403,
        reasons.ANON_FORBIDDEN_WORKER: 403,
        reasons.WORKER_FLAGGED_MAINTENANCE: 403,
        reasons.WORKER_MAINTENANCE: 403,
        reasons.WORKER_INVITE_ONLY: 403,
        reasons.TOO_MANY_WORKERS: 403,
        reasons.TOO_MANY_WORKERS_TRUSTED: 403,
        reasons.TOO_MANY_SAME_IPS: 403,
        reasons.TOO_MANY_NEW_IPS: 403,
        reasons.UNSAFE_IP: 403,
        reasons.PROFANE_WORKER_NAME: 400,
        reasons.PROFANE_BRIDGE_AGENT: 400,
        reasons.PROFANE_WORKER_INFO: 400,
        reasons.POLYMORPHIC_NAME_CONFLICT: 400,
        reasons.INVALID_PRIORITY_USERNAME: 400,
        reasons.CHAT_DECLARATION_INVALID: 400,
        reasons.ANON_FORBIDDEN: 403,
        reasons.NOT_OWNER: 403,
        reasons.NO_WORKER_MOD_SELECTED: 400,
        reasons.TOO_LONG_WORKER_NAME: 400,
        reasons.WORKER_NAME_ALREADY_EXISTS: 400,
        reasons.WORKERMESSAGE_NOT_FOUND: 404,
        reasons.MESSAGES_ONLY_OWN_WORKERS: 403,
        reasons.LOCKED: 423,
        reasons.WRONG_CREDENTIALS: 403,
        reasons.INVALID_JOB_ID: 404,
        reasons.DUPLICATE_GEN: 400,
        reasons.ABORTED_GEN: 400,
        reasons.CHAT_SUBMIT_INVALID: 400,
        reasons.CHAT_SUBMIT_NONCONFORMANT: 400,
        reasons.CHAT_MODEL_MISMATCH: 400,
        reasons.CHAT_JOB_ABORTED: 404,
        reasons.CHAT_PROGRESS_NOT_STREAMING: 404,
        reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE: 409,
        reasons.CHAT_PROGRESS_CAP_REACHED: 413,
        reasons.CHAT_PROGRESS_UNAVAILABLE: 503,
        reasons.NOT_ADMIN: 403,
        reasons.NO_HORDE_MOD_SELECTED: 400,
        reasons.NO_FILTER_MOD_SELECTED: 400,
        reasons.FILTER_NOT_FOUND: 404,
        reasons.MISSING_API_KEY: 400,
        reasons.INVALID_OPERATIONS_LIMIT: 400,
        reasons.INVALID_OPERATIONS_CURSOR: 400,
        reasons.INVALID_OPERATIONS_FILTER: 400,
        reasons.INVALID_OPERATIONS_SORT: 400,
        reasons.INVALID_MODERATION_EVENT_ID: 400,
        reasons.INVALID_MODERATION_TIME_RANGE: 400,
        reasons.INVALID_MODERATION_REASON: 400,
        reasons.INVALID_MODERATION_ADDRESS_FILTER: 400,
        reasons.INVALID_MODERATION_NOTE: 400,
        reasons.INVALID_MODERATION_MARK: 400,
        reasons.INVALID_USER_ID: 400,
        reasons.INVALID_WORKER_ID: 400,
        reasons.INVALID_WORKER_TYPE: 400,
        reasons.INVALID_SUSPICION_ID: 400,
        reasons.INVALID_PROXIED_ACCOUNT: 400,
        reasons.MODERATION_EVENT_NOT_FOUND: 404,
        reasons.ANON_FORBIDDEN_USER_MOD: 403,
        reasons.USER_NOT_FOUND: 404,
        reasons.NOT_PRIVILEGED: 403,
        reasons.NON_SERVICE_FORBIDDEN: 403,
        reasons.NO_USER_MOD_SELECTED: 400,
        reasons.USER_NOT_DELETED: 400,
        reasons.PROFANE_USER_NAME: 400,
        reasons.PROFANE_USER_CONTACT: 400,
        reasons.PROFANE_ADMIN_COMMENT: 400,
        reasons.TOO_LONG_USER_NAME: 400,
        reasons.NOT_USER_OR_MOD: 403,
        reasons.CANNOT_DELETE_MOD: 403,
        reasons.CANNOT_WIPE_ACTIVE_USER: 403,
        reasons.NO_SHARED_KEY_MOD_SELECTED: 400,
        reasons.KUDOS_TRANSFER_FROM_ANON: 400,
        reasons.KUDOS_TRANSFER_TO_ANON: 400,
        reasons.KUDOS_TRANSFER_TO_SELF: 400,
        reasons.INVALID_TARGET_USERNAME: 400,
        reasons.SHARED_KEY_EXPIRED_IN_TRANSFER: 400,
        reasons.DELETED_USER_IN_TRANSFER: 400,
        reasons.TOO_FAST_KUDOS_TRANSFERS: 400,
        reasons.FAULT_WHEN_KUDOS_SENDING: 400,
        reasons.FAULT_WHEN_KUDOS_RECEIVING: 400,
        reasons.SOURCE_ACCOUNT_FLAGGED: 400,
        reasons.TARGET_ACCOUNT_FLAGGED: 400,
        reasons.EDUCATION_CANNOT_SEND_KUDOS: 400,
        reasons.NEGATIVE_KUDOS_TRANSFER: 400,
        reasons.INVALID_KUDOS_TRANSFER_AMOUNT: 400,
        reasons.KUDOS_TRANSFER_NOT_ENOUGH: 400,
        reasons.IDEMPOTENCY_KEY_CONFLICT: 400,
    }
)

_BY_CODE: Mapping[str, int] = MappingProxyType(
    {
        "INVALID_ARGUMENT": 400,
        "OUT_OF_RANGE": 413,
        "UNAUTHENTICATED": 401,
        "PERMISSION_DENIED": 403,
        "NOT_FOUND": 404,
        "ABORTED": 409,
        "RESOURCE_EXHAUSTED": 429,
        "UNAVAILABLE": 503,
    }
)
"""For a reason that a newer service knows and this gateway does not yet."""

_AWAY = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"})
"""gRPC codes of a service that a repeat may find back. Any other is a bug there, which a repeat would find again."""

_OUR_FAULT = "Internal Server Error"

_CLOSED_BY_CALLER = 499
"""Nobody reads it; the metric of the request does. nginx counts such a request under the same number."""

_RETRY_SECONDS = 5
"""When to ask again after a service was away: a replaced pod serves after a few seconds."""

_SENTENCES: Mapping[int, str] = MappingProxyType(
    {
        404: "The requested URL was not found on the server.",
        405: "The method is not allowed for the requested URL.",
    }
)


def status_of(reason: Reason) -> int:
    """The HTTP status of a reason."""
    known = STATUS.get(reason)
    return _BY_CODE.get(reason.code, 400) if known is None else known


def answer_to(error: BaseException) -> Answer:
    """The JSON answer of the native API to whatever went wrong."""
    match error:
        case Refusal():
            return refused(error)
        case HTTPException():
            return _framework(error)
        case NeighbourUnavailable(code=code) if code not in _AWAY:
            return _message(500, _OUR_FAULT)
        case Outage():
            return _message(503, "The service is temporarily unavailable. Please try again.", _retry(_RETRY_SECONDS))
        case Disconnected():
            return _message(_CLOSED_BY_CALLER, "The connection was closed.")
        case _:
            return _message(500, _OUR_FAULT)


def rc_of(error: BaseException) -> str | None:
    """The return code under which an answer is counted, if there is one."""
    return error.reason.word if isinstance(error, Refusal) else None


def refused(refusal: Refusal) -> Answer:
    """Message, return code, and the refusal's facts beside them."""
    body = {"message": refusal.message, **refusal.facts}
    if refusal.reason is not reasons.RATE_LIMIT_EXCEEDED:  # the limiter's answer has no return code, base-domain 1.2
        body["rc"] = refusal.reason.word
    headers = () if refusal.retry_after is None else _retry(refusal.retry_after)
    return Answer(orjson.dumps(body, default=str), status_of(refusal.reason), headers)


def _framework(error: HTTPException) -> Answer:
    status = error.status_code
    # Starlette's own exceptions say no more than the status' name, which is what a person needs least.
    plain = error.detail == HTTPStatus(status).phrase
    message = _SENTENCES.get(status, error.detail) if plain else error.detail
    headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
    return _message(status, message, headers)


def _message(status: int, message: str, headers: tuple[Header, ...] | list[Header] = ()) -> Answer:
    return Answer(orjson.dumps({"message": message}), status, headers)


def _retry(seconds: int) -> tuple[Header, ...]:
    return ((b"retry-after", str(seconds).encode()),)
