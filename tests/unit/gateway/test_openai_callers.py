"""What the front reads from a call's headers."""

from typing import Any
from uuid import UUID

import pytest

from services.gateway.openai.callers import FrontCaller, front_caller
from services.gateway.openai.errors import FrontError


def caller(address: str = "192.0.2.1", **headers: str) -> FrontCaller:
    scope: dict[str, Any] = {
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": (address, 1),
    }
    return front_caller(scope, 0)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": "Bearer abc"}, "abc"),
        ({"authorization": "bearer  abc "}, "abc"),
        ({"authorization": "Basic abc"}, None),
        ({"authorization": "Bearer"}, None),
        ({"authorization": "Bearer abc", "apikey": "def"}, "abc"),
        ({"authorization": "Basic abc", "apikey": "def"}, "def"),
        ({"api_key": "ghi"}, "ghi"),
        ({}, None),
    ],
)
def test_the_key_is_found(headers: dict[str, str], key: str | None) -> None:
    assert caller(**headers).caller.api_key == key


def test_a_horde_client_keeps_its_name() -> None:
    assert caller(client_agent="mine:1:me").caller.client_agent == "mine:1:me"
    assert caller().caller.client_agent == "openai-front:1:chat-horde"


@pytest.mark.parametrize(
    ("headers", "stream", "seconds"),
    [
        ({}, False, 600),
        ({"x_stainless_read_timeout": "600"}, False, 590),
        ({"x_stainless_timeout": "120"}, False, 110),
        ({"x_stainless_read_timeout": "60", "x_stainless_timeout": "900"}, False, 50),
        ({"x_stainless_read_timeout": "4"}, False, 2),
        ({"x_stainless_read_timeout": "9000"}, False, 600),
        ({"x_stainless_read_timeout": "nan"}, False, 600),
        ({"x_stainless_read_timeout": "-1"}, False, 600),
        ({"x_stainless_read_timeout": "60"}, True, 600),
    ],
)
def test_a_plain_call_is_answered_before_its_client_gives_up(
    headers: dict[str, str], stream: bool, seconds: float
) -> None:
    assert caller(**headers).budget(600, stream=stream) == seconds


def test_who_may_come_back_is_known_by_its_headers() -> None:
    assert caller(x_stainless_lang="js").comes_back
    assert caller(idempotency_key="k").comes_back
    assert not caller().comes_back
    assert caller(x_stainless_retry_count="1").is_retry
    assert not caller(x_stainless_retry_count="0").is_retry


def test_an_operation_key_belongs_to_one_caller_and_one_key() -> None:
    mine = caller(authorization="Bearer a", idempotency_key="k").operation_key(None)
    assert mine == caller("192.0.2.9", authorization="Bearer a", idempotency_key="k").operation_key(None)
    assert mine != caller(authorization="Bearer b", idempotency_key="k").operation_key(None)
    assert mine != caller(authorization="Bearer a", idempotency_key="l").operation_key(None)


def test_anonymous_callers_are_told_apart_by_their_addresses() -> None:
    keys = {
        caller(address, authorization="Bearer 0000000000", idempotency_key="k").operation_key(None)
        for address in ("192.0.2.1", "192.0.2.2")
    }
    assert len(keys) == 2


def test_a_bodys_own_operation_key_stands_alone_or_agrees() -> None:
    named = UUID(int=5)
    assert caller().operation_key(named) == named
    both = caller(authorization="Bearer a", idempotency_key="k")
    assert both.operation_key(both.operation_key(None)) == both.operation_key(None)
    with pytest.raises(FrontError) as refused:
        both.operation_key(named)
    assert refused.value.code == "conflicting_parameters"


@pytest.mark.parametrize("key", ["", "k" * 256, "é", "a\tb"])
def test_an_idempotency_key_is_short_printable_ascii(key: str) -> None:
    with pytest.raises(FrontError) as refused:
        caller(idempotency_key=key)
    assert refused.value.code == "invalid_idempotency_key"
