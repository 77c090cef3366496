"""Strict schemas and the bound on checking them (decision 25)."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.dispatch.jail.cells import Jail
from services.dispatch.rules import schema_check
from services.dispatch.rules.schema_check import Verdict

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    made = Jail(cells=1)
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("content", "schema", "verdict"),
    [
        ("{}", {"type": "object"}, Verdict.OK),
        ("[]", {"type": "object"}, Verdict.MISMATCH),
        ("1", True, Verdict.OK),
        ("1", False, Verdict.MISMATCH),
        ("", {}, Verdict.NOT_JSON),
        ('{"a": NaN}', {}, Verdict.NOT_JSON),
        ("[Infinity]", {}, Verdict.NOT_JSON),
        ("[" * 100_000, {}, Verdict.NOT_JSON),
        ("1" * 5000, {}, Verdict.NOT_JSON),
        ('"\\ud800"', {"type": "string"}, Verdict.MISMATCH),
        ("{}", [], Verdict.UNCOMPILABLE),
        ("{}", {"type": "thing"}, Verdict.UNCOMPILABLE),
        ("{}", {"pattern": "("}, Verdict.UNCOMPILABLE),
        ("{}", {"$ref": "#/$defs/missing"}, Verdict.UNCOMPILABLE),
        ("{}", {"$ref": "http://127.0.0.1:9/schema"}, Verdict.UNCOMPILABLE),
        ("{}", {"$ref": "file:///etc/hostname"}, Verdict.UNCOMPILABLE),
        ('{"a": {"a": {}}}', {"$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}, "ok"),
        # an array of schemas for `items` has a meaning in draft 7, and none in 2020-12
        ("[1]", {"$schema": DRAFT_7, "items": [{"type": "string"}]}, Verdict.MISMATCH),
        ("[1]", {"items": [{"type": "string"}]}, Verdict.UNCOMPILABLE),
        ("[1]", {"$schema": "https://example.invalid/own", "items": {"type": "integer"}}, Verdict.OK),
        ('"x"', {"type": "string", "format": "email"}, Verdict.OK),
    ],
)
def test_a_content_is_measured_by_its_schema(content: str, schema: object, verdict: str) -> None:
    assert schema_check.matches(content, schema) == verdict


@pytest.mark.parametrize(
    ("content", "verdict"), [("{}", Verdict.OK), ("[]", Verdict.NOT_AN_OBJECT), ("{", Verdict.NOT_JSON)]
)
def test_an_object_is_told_from_other_json(content: str, verdict: Verdict) -> None:
    assert schema_check.is_object(content) is verdict


async def test_a_pattern_that_backtracks_does_not_hold_anybody_up(jail: Jail) -> None:
    started = time.monotonic()
    verdict = await jail.check('"' + "a" * 60 + 'b"', {"type": "string", "pattern": r"^(?=a)(a|aa)+\1$"})
    assert verdict in {Verdict.MISMATCH, Verdict.UNCOMPILABLE}
    assert time.monotonic() - started < 5


def hostile_for_time() -> tuple[str, dict[str, Any]]:
    """Each of sixty schemas asks for the next one twice: 2^60 checks of a few nanoseconds, years on any machine."""
    steps: dict[str, Any] = {
        f"step{number}": {"allOf": [{"$ref": f"#/$defs/step{number + 1}"}] * 2} for number in range(60)
    }
    return "{}", {"$defs": {**steps, "step60": {"type": "object"}}, "$ref": "#/$defs/step0"}


def hostile_for_memory() -> tuple[str, dict[str, Any]]:
    """A million small objects: hundreds of megabytes once they are parsed."""
    return "[" + ",".join(['{"a":1}'] * 1_000_000) + "]", {"type": "array"}


@pytest.mark.parametrize("question", [hostile_for_time(), hostile_for_memory()], ids=["time", "memory"])
async def test_what_exceeds_the_bound_counts_as_uncompilable_and_the_next_check_works(
    jail: Jail, question: tuple[str, dict[str, Any]]
) -> None:
    assert await jail.check(*question) is Verdict.UNCOMPILABLE
    assert await jail.check("{}", {"type": "object"}) is Verdict.OK


async def test_a_check_that_is_given_up_leaves_no_answer_behind(jail: Jail) -> None:
    assert await jail.check("[]", {"type": "array"}) is Verdict.OK
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await jail.check(*hostile_for_time())
    assert await jail.check("[]", {"type": "object"}) is Verdict.MISMATCH


async def test_a_long_content_is_parsed_elsewhere(jail: Jail) -> None:
    assert await jail.check('{"a": "' + "x" * 100_000 + '"}', None) is Verdict.OK
    assert await jail.check("[" + "1," * 100_000 + "1]", None) is Verdict.NOT_AN_OBJECT
