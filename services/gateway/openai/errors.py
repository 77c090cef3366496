"""OpenAI's error object, and the only table of what a caller of /v1 is told. Contract: clients-and-front 3.7."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import tracing
from services.gateway.answers import Answer, Header
from services.gateway.bodies import Disconnected
from services.gateway.openai.events import FrontEvents
from services.gateway.render import status_of

INVALID, UNAVAILABLE, SERVER = "invalid_request_error", "service_unavailable_error", "server_error"

REPEATABLE = "horde.front.repeatable"
"""In a request's scope: true when it carries an operation key, so that a repeat queues nothing twice."""

ACCEPTED = "horde.front.request_id"
"""In a request's scope: the id of the request that was queued for it."""

_MOST_RETRY_SECONDS = 120
"""openai-python waits as told only up to two minutes. The true wait stands in the message."""

_NO_FACTS: Mapping[str, object] = MappingProxyType({})


class FrontError(Exception):
    """One answer that says no. `retry_after` in seconds; `retry`: whether an SDK may repeat the call by itself."""

    def __init__(
        self,
        status: int,
        kind: str,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry: bool = False,
        retry_after: int | None = None,
        facts: Mapping[str, object] = _NO_FACTS,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.code = code
        self.message = message
        self.param = param
        self.retry = retry
        self.retry_after = retry_after
        self.facts = facts

    def body(self) -> bytes:
        """The JSON: all four keys always, and what the horde adds."""
        told: dict[str, object] = {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
            **self.facts,
            "request_id": tracing.request_id(),
        }
        return orjson.dumps({"error": told}, default=str)


def invalid(code: str, message: str, param: str | None) -> FrontError:
    """A 400 for what was sent."""
    return FrontError(400, INVALID, code, message, param=param)


@dataclass(frozen=True, slots=True)
class _Row:
    status: int
    kind: str
    code: str
    param: str | None = None
    retry: bool = False
    retry_after: int | None = None
    # the operation may have been named by a header, which is no parameter
    has_param: bool = True


def _table() -> Mapping[Reason, _Row]:
    unavailable = _Row(503, UNAVAILABLE, "service_unavailable", retry=True, retry_after=30)
    forbidden = _Row(403, "permission_error", "forbidden")
    # OpenRouter's status: an SDK never repeats it, as it would OpenAI's own 429.
    poor = _Row(402, "insufficient_quota", "insufficient_kudos", "max_tokens")
    limited = _Row(429, "rate_limit_error", "rate_limit_exceeded", retry=True, retry_after=5)
    too_large = _Row(400, INVALID, "image_too_large", "messages")
    bad_image = _Row(400, INVALID, "invalid_image", "messages")
    bad_url = _Row(400, INVALID, "invalid_image_url", "messages")
    bad_stop = _Row(400, INVALID, "invalid_value", "stop")
    return MappingProxyType(
        {
            reasons.INVALID_API_KEY: _Row(401, INVALID, "invalid_api_key"),
            reasons.UNKNOWN_CHAT_MODEL: _Row(404, INVALID, "model_not_found", "model"),
            reasons.NO_ELIGIBLE_WORKER: _Row(503, UNAVAILABLE, "no_eligible_worker", "model", retry_after=30),
            reasons.TOO_MANY_STOP_SEQUENCES: bad_stop,
            reasons.EXCESSIVE_STOP_SEQUENCE: bad_stop,
            reasons.TOKEN_OVERFLOW: _Row(400, INVALID, "invalid_value", "max_tokens"),
            reasons.PROMPT_EXCEEDS_CONTEXT: _Row(400, INVALID, "context_length_exceeded", "messages"),
            reasons.UNSUPPORTED_CHAT_PARAMETER: _Row(400, INVALID, "unsupported_parameter"),
            reasons.CHAT_REQUEST_CONFLICT: _Row(400, INVALID, "conflicting_parameters"),
            reasons.OPERATION_KEY_CONFLICT: _Row(400, "idempotency_error", "idempotency_key_conflict", has_param=False),
            reasons.CHAT_KUDOS_CAP_EXCEEDED: _Row(400, INVALID, "kudos_cap_exceeded", "horde.max_kudos"),
            reasons.TOO_MANY_EXTRA_SOURCE_IMAGES: bad_image,
            reasons.SOURCE_IMAGE_UNREADABLE: bad_image,
            reasons.SOURCE_IMAGE_SIZE_EXCEEDED: too_large,
            reasons.SOURCE_IMAGE_RESOLUTION_EXCEEDED: too_large,
            reasons.SOURCE_IMAGE_URL_REFUSED: bad_url,
            reasons.SOURCE_IMAGE_URL_INVALID: bad_url,
            reasons.CORRUPT_PROMPT: _Row(400, INVALID, "content_policy_violation", "messages"),
            reasons.PROMPT_REWRITTEN_AWAY: _Row(400, INVALID, "content_policy_violation", "messages"),
            reasons.KUDOS_UPFRONT: poor,
            reasons.SHARED_KEY_INSUFFICIENT_KUDOS: poor,
            reasons.SHARED_KEY_EMPTY: poor,
            reasons.TIMEOUT_IP: forbidden,
            reasons.WRONG_CREDENTIALS: forbidden,
            reasons.REQUEST_TOO_LARGE: _Row(413, INVALID, "request_too_large"),
            reasons.RATE_LIMIT_EXCEEDED: limited,
            reasons.TOO_MANY_PROMPTS: limited,
            reasons.CHAT_ADMISSION_DISABLED: unavailable,
            reasons.MAINTENANCE_MODE: unavailable,
            reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE: unavailable,
            reasons.REQUEST_NOT_FOUND: _Row(502, SERVER, "request_expired"),
        }
    )


_ROWS = _table()

_BY_STATUS: Mapping[int, _Row] = MappingProxyType(
    {
        401: _Row(401, INVALID, "invalid_api_key"),
        403: _Row(403, "permission_error", "forbidden"),
        404: _Row(404, INVALID, "not_found"),
        413: _Row(413, INVALID, "request_too_large"),
        429: _Row(429, "rate_limit_error", "rate_limit_exceeded", retry=True, retry_after=5),
        503: _Row(503, UNAVAILABLE, "service_unavailable", retry=True, retry_after=5),
    }
)
"""For a reason that has no row of its own."""

_INVALID_VALUE = _Row(400, INVALID, "invalid_value")

_NEEDED_BY: Mapping[str, str] = MappingProxyType(
    {
        "tools": "tools",
        "tools_with_response_format": "tools",
        "tool_choice_enforced": "tool_choice",
        "single_tool_call_enforced": "parallel_tool_calls",
        "json_object": "response_format",
        "json_schema": "response_format",
        "structured_output_enforced": "response_format",
        "vision": "messages",
        "image_transports": "messages",
        "prompt_overflow_refused": "messages",
        "seed": "seed",
        "reasoning_effort": "reasoning_effort",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
        "tools_max_temperature": "temperature",
        "max_length": "max_tokens",
        "max_context_length": "messages",
    }
)
"""Which key of a body needs a declaration or a limit, the first to be named first."""

_SIZES = frozenset({"max_length", "max_context_length"})


def gap_error(missing: Sequence[str], exceeded: Sequence[str], facts: Mapping[str, object]) -> FrontError:
    """No online worker of the model can serve the request, for what the workers declare."""
    told = {"rc": reasons.NO_ELIGIBLE_WORKER.word, "impossible_reason": dict(facts)}
    if not missing and exceeded and _SIZES.issuperset(exceeded):
        if "max_context_length" in exceeded:
            message = "The request needs a longer context than any online worker of this model offers."
            return FrontError(400, INVALID, "context_length_exceeded", message, param="messages", facts=told)
        message = "The request asks for more tokens than any online worker of this model offers."
        return FrontError(400, INVALID, "max_tokens_exceeded", message, param="max_tokens", facts=told)
    lacking = {*missing, *exceeded}
    param = next((key for name, key in _NEEDED_BY.items() if name in lacking), None)
    message = f"No online worker of this model offers what the request needs: {', '.join(sorted(lacking))}."
    return FrontError(404, INVALID, "no_eligible_worker", message, param=param, facts=told)


def error_of(error: BaseException, *, repeatable: bool = False) -> FrontError:
    """What the caller is told of whatever went wrong. `repeatable`: the call carried an operation key."""
    match error:
        case FrontError():
            return error
        case Refusal():
            return _refused(error)
        case HTTPException():
            return _framework(error)
        case Outage():
            message = "A service of the horde cannot be reached now. Please try again."
            return FrontError(502, SERVER, "upstream_unavailable", message, retry=repeatable, retry_after=5)
        case Disconnected():
            return FrontError(499, INVALID, "client_closed_request", "The connection was closed.")
        case _:
            return FrontError(500, SERVER, "internal_error", "Something went wrong inside the horde.")


def render(error: BaseException, request: Request) -> Answer:
    """The answer to whatever went wrong under /v1 before an answer has begun. Each is made, and counted, only here."""
    told = error_of(error, repeatable=request.scope.get(REPEATABLE, False))
    if not isinstance(error, Disconnected):  # which nobody is left to be told
        FrontEvents().told(told.code, told.status, "pre")
    if told.code == "unknown_url":
        told.message = f"Unknown request URL: {request.method} {request.url.path[:200]}."
    headers: list[Header] = [(b"x-should-retry", b"true" if told.retry else b"false")]
    if told.retry_after is not None:
        seconds = min(told.retry_after, _MOST_RETRY_SECONDS) if told.retry else told.retry_after
        headers += [(b"retry-after", b"%d" % seconds), (b"retry-after-ms", b"%d" % (seconds * 1000))]
    if isinstance(error, HTTPException):
        headers += [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
    accepted = request.scope.get(ACCEPTED)
    if accepted is not None:
        headers.append((b"x-horde-request-id", accepted.encode()))
    return Answer(told.body(), told.status, headers)


def _refused(refusal: Refusal) -> FrontError:
    reason, facts = refusal.reason, refusal.facts
    gap = facts.get("impossible_reason")
    if reason is reasons.NO_ELIGIBLE_WORKER and isinstance(gap, Mapping):
        return gap_error(gap.get("missing_declarations") or (), gap.get("exceeded_limits") or (), gap)
    row = _ROWS.get(reason) or _BY_STATUS.get(status_of(reason), _INVALID_VALUE)
    message, param = _place(refusal)
    return FrontError(
        row.status,
        row.kind,
        _schema_code(refusal) or row.code,
        message,
        param=(param or row.param) if row.has_param else None,
        retry=row.retry,
        retry_after=row.retry_after if refusal.retry_after is None else math.ceil(refusal.retry_after),
        facts={"rc": reason.word},
    )


def _place(refusal: Refusal) -> tuple[str, str | None]:
    """The message, and the path of what is wrong as far as the refusal names one."""
    errors = refusal.facts.get("errors")
    if isinstance(errors, Mapping) and errors:
        path, text = next(iter(errors.items()))
        return (f"{path}: {text}" if path else str(text)), str(path) or None
    named = refusal.facts.get("param")
    if named is None and refusal.message.startswith("'models["):
        # The native sentence opens with the quoted path.
        named = refusal.message[1 : refusal.message.find("'", 1)]
    return refusal.message, None if named is None else str(named)


def _schema_code(refusal: Refusal) -> str | None:
    """OpenAI has codes of its own for a schema that breaks its rules."""
    if refusal.reason is not reasons.UNSUPPORTED_CHAT_PARAMETER or "Invalid schema for " not in refusal.message:
        return None
    return "invalid_function_parameters" if "for function" in refusal.message else "invalid_json_schema"


def _framework(error: HTTPException) -> FrontError:
    match error.status_code:
        case 404:
            return FrontError(404, INVALID, "unknown_url", "Unknown request URL.")
        case 405:
            return FrontError(405, INVALID, "method_not_allowed", "This method is not allowed for this URL.")
        case 408:
            return FrontError(408, "timeout_error", "request_timeout", error.detail)
        case 415:
            return FrontError(415, INVALID, "unsupported_media_type", error.detail)
        case status:
            return FrontError(status, INVALID, "invalid_request", error.detail)
