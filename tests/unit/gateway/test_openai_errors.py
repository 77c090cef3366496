"""What a caller of /v1 is told, for every reason there is."""

from typing import Any

import pytest
from prometheus_client import REGISTRY
from starlette.exceptions import HTTPException
from starlette.requests import Request

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.gateway.bodies import Disconnected
from services.gateway.openai.errors import ACCEPTED, error_of, render

KINDS = {
    "invalid_request_error",
    "permission_error",
    "insufficient_quota",
    "rate_limit_error",
    "idempotency_error",
    "service_unavailable_error",
    "server_error",
    "timeout_error",
}


def request(**more: object) -> Request:
    scope = {"type": "http", "method": "GET", "path": "/v1/x", "query_string": b"", "headers": [], **more}
    return Request(scope)


async def nothing() -> Any:
    return {}


async def headers_of(error: Exception, **scope: object) -> list[tuple[bytes, bytes]]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await render(error, request(**scope))({}, nothing, send)
    return list(sent[0]["headers"])


@pytest.mark.parametrize("reason", reasons.ALL.values(), ids=lambda reason: reason.key)
def test_every_reason_has_an_answer_that_sdks_do_not_repeat_by_mistake(reason: Reason) -> None:
    told = error_of(Refusal(reason, "Because."))
    assert told.kind in KINDS
    assert told.status in {400, 401, 402, 403, 404, 413, 429, 502, 503}
    assert told.retry == (told.status in {429, 503} and reason is not reasons.NO_ELIGIBLE_WORKER)
    assert told.message == "Because."
    assert told.facts["rc"] == reason.word


@pytest.mark.parametrize(
    ("refusal", "code", "param", "message"),
    [
        (
            Refusal(reasons.OPERATION_KEY_CONFLICT, "x", {"param": "horde.operation_key"}),
            "idempotency_key_conflict",
            None,
            "x",
        ),
        (Refusal(reasons.BAD_REQUEST, "x", {"param": "messages[0]"}), "invalid_value", "messages[0]", "x"),
        (Refusal(reasons.EXCESSIVE_STOP_SEQUENCE, "x"), "invalid_value", "stop", "x"),
        (Refusal(reasons.TOO_MANY_STOP_SEQUENCES, "x"), "invalid_value", "stop", "x"),
        (Refusal(reasons.TOKEN_OVERFLOW, "x"), "invalid_value", "max_tokens", "x"),
        (Refusal(reasons.VALIDATION_FAILED, "m", {"errors": {"seed": "no"}}), "invalid_value", "seed", "seed: no"),
        (
            Refusal(reasons.UNKNOWN_CHAT_MODEL, "'models[1]': nobody knows it."),
            "model_not_found",
            "models[1]",
            "'models[1]': nobody knows it.",
        ),
        (
            Refusal(reasons.UNSUPPORTED_CHAT_PARAMETER, "Invalid schema for function 'f': …", {"param": "tools[0]"}),
            "invalid_function_parameters",
            "tools[0]",
            "Invalid schema for function 'f': …",
        ),
        (
            Refusal(reasons.UNSUPPORTED_CHAT_PARAMETER, "Invalid schema for response_format 'c': …"),
            "invalid_json_schema",
            None,
            "Invalid schema for response_format 'c': …",
        ),
    ],
)
def test_an_error_names_the_place(refusal: Refusal, code: str, param: str | None, message: str) -> None:
    told = error_of(refusal)
    assert (told.code, told.param, told.message) == (code, param, message)


async def test_the_time_to_wait_is_bounded_only_where_sdks_wait() -> None:
    limited = await headers_of(Refusal(reasons.TOO_MANY_PROMPTS, "x", retry_after=999))
    timed = await headers_of(Refusal(reasons.TIMEOUT_IP, "x", retry_after=999))
    assert (b"retry-after", b"120") in limited
    assert (b"retry-after", b"999") in timed
    assert (b"retry-after-ms", b"120000") in limited


async def test_a_bug_shows_nothing_of_itself() -> None:
    answer = render(KeyError("secret"), request())
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert (b"x-horde-request-id", b"an-id") in await headers_of(KeyError("secret"), **{ACCEPTED: "an-id"})


@pytest.mark.parametrize("status", [404, 405, 408, 415, 431])
async def test_what_the_framework_refuses_is_openais_error_too(status: int) -> None:
    error = HTTPException(status, headers={"Allow": "POST"})
    assert render(error, request()).status == status
    headers = await headers_of(error)
    assert (b"allow", b"POST") in headers
    assert (b"x-should-retry", b"false") in headers


def test_an_error_that_nobody_is_left_to_be_told_is_not_counted() -> None:
    assert render(Disconnected(), request()).status == 499
    counted = {"code": "client_closed_request", "status": "499", "stage": "pre"}
    assert REGISTRY.get_sample_value("horde_oai_errors_total", counted) is None
