"""Chat bodies: what is refused, with which code, at which path, in which words."""

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract.chat import parse_chat_request
from horde.contract.chat.fingerprint import fingerprint
from horde.contract.chat.requirements import chat_extras, required_features, tools_temperature
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_limits, chat_policy
from tests.contract.chat_bodies import TOOL, USER, answer, body, call, parsed, refusal

UNSUPPORTED: list[tuple[dict[str, Any], str]] = [
    *(
        (body(**{key: 1}), key)
        for key in ("logprobs", "top_logprobs", "logit_bias", "modalities", "audio", "prediction")
    ),
    *((body(**{key: 1}), key) for key in ("rep_pen", "top_k", "min_p", "functions", "service_tier", "store")),
    (body(n=2), "n=2"),
    (body(horde={"models": ["m"]}), "horde.models"),
    (body(messages=[{**USER, "tool_calls": []}]), "messages[0].tool_calls"),
    (body(messages=[call("a"), {**answer("a"), "name": "x"}]), "messages[1].name"),
    (body(messages=[{"role": "function", "content": ""}]), "messages[0].role=function"),
    (
        body(messages=[{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "input_audio"}]}]),
        "messages[0].content[1].type=input_audio",
    ),
    (
        body(messages=[{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]),
        "messages[0].content[0].type=image_url",
    ),
    (body(messages=[USER] * 1025), "1024"),
    (body(messages=[{"role": "user", "content": "é" * (512 * 1024 + 1)}]), "1048576"),
    (body(tools=[TOOL] * 129), "128"),
    (body(tools=[{"type": "web_search"}]), "tools[0].type=web_search"),
    (body(tools=[{**TOOL, "function": {"name": "a b"}}]), "tools[0].function.name"),
    (body(tools=[{**TOOL, "function": {"name": "f", "description": "x" * 262_144}}]), "262144"),
    (body(response_format={"type": "grammar"}), "response_format.type=grammar"),
    (
        body(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://x"}}]}]),
        "image_url.url",
    ),
]


@pytest.mark.parametrize(("sent", "words"), UNSUPPORTED, ids=[words for _, words in UNSUPPORTED])
def test_what_chat_does_not_take_is_unsupported_and_named(sent: dict[str, Any], words: str) -> None:
    no = refusal(sent)
    assert no.reason.key == "UnsupportedChatParameter"
    assert words in no.message


WRONG: list[tuple[dict[str, Any], str]] = [
    (body(model=None), "model"),
    (body(model=""), "model"),
    (body(model=None, models=[]), "models"),
    (body(model=None, models=["a", ""]), "models[1]"),
    (body(model=None, models=["a", "a"]), "models[1]"),
    (body(model=None, models=list("abcdef")), "models"),
    (body(messages=[]), "messages"),
    (body(messages=None), "messages"),
    (body(messages=[{"role": "user"}]), "messages[0].content"),
    (body(messages=[{"role": "assistant", "content": "", "tool_calls": []}]), "messages[0].tool_calls"),
    (body(messages=[{"role": "user", "content": [{"type": "text", "text": 1}]}]), "messages[0].content[0].text"),
    (body(max_tokens="many"), "max_tokens"),
    (body(temperature=True), "temperature"),
    (body(seed=1.5), "seed"),
    (body(reasoning_effort="huge"), "reasoning_effort"),
    (body(stop=["a", 1]), "stop[1]"),
    (body(stream="yes"), "stream"),
    (body(n="1"), "n"),
    (body(horde=[]), "horde"),
    (body(horde={"only": []}), "horde.only"),
    (body(horde={"ignore": [str(n) for n in range(6)]}), "horde.ignore"),
    (body(horde={"context_fit": "ignore"}), "horde.context_fit"),
    (body(horde={"operation_key": "x"}), "horde.operation_key"),
    (body(horde={"max_kudos": 0}), "horde.max_kudos"),
    (body(horde={"dry_run": 1}), "horde.dry_run"),
    (body(tools={}), "tools"),
    (body(tools=[{**TOOL, "function": {"name": "f", "strict": "yes"}}]), "tools[0].function.strict"),
    (body(response_format={"type": "json_schema", "json_schema": {"name": "x"}}), "response_format.json_schema.schema"),
]


@pytest.mark.parametrize(("sent", "path"), WRONG, ids=[path for _, path in WRONG])
def test_wrong_shapes_are_bad_requests_that_start_with_the_path(sent: dict[str, Any], path: str) -> None:
    no = refusal(sent)
    assert no.reason.word == "BadRequest"
    assert no.message.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("max_tokens", (15, 16_385)),
        ("max_completion_tokens", (0, 10**30)),
        ("temperature", (-0.1, 5.1)),
        ("top_p", (0, 1.1)),
        ("frequency_penalty", (-2.1, 2.1)),
        ("presence_penalty", (-2.1, 2.1)),
        ("seed", (2**63, -(2**63) - 1)),
    ],
)
def test_out_of_range_values_are_validation_errors_by_path(key: str, values: tuple[float, ...]) -> None:
    for value in values:
        no = refusal(body(**{key: value}))
        assert no.message == "Input payload validation failed"
        assert list(no.facts["errors"]) == [key]  # type: ignore[call-overload]  # facts are any JSON


@pytest.mark.parametrize("length", [16, 16_384])
def test_the_edges_of_the_length_are_taken(length: int) -> None:
    assert parsed(body(max_tokens=length, max_completion_tokens=length)).max_length == length


CONFLICTS: list[tuple[dict[str, Any], str]] = [
    (body(max_tokens=20, max_completion_tokens=21), "max_completion_tokens"),
    (body(horde={"only": ["a"], "ignore": ["b"]}), "horde.ignore"),
    (body(models=["m"]), "models"),
    (
        body(tool_choice="none"),
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    ),
    (
        body(tools=[], parallel_tool_calls=True),
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
    ),
    (body(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "other"}}), "other"),
    (body(response_format={"type": "json_object"}, horde={"openai_guards": True}), "must contain the word 'json'"),
]


@pytest.mark.parametrize(("sent", "words"), CONFLICTS)
def test_contradictions_are_conflicts(sent: dict[str, Any], words: str) -> None:
    no = refusal(sent)
    assert no.reason.key == "ChatRequestConflict"
    assert words in no.message


def test_the_word_json_in_any_case_satisfies_the_guard() -> None:
    guarded = {"response_format": {"type": "json_object"}, "horde": {"openai_guards": True}}
    parsed(body(messages=[{"role": "user", "content": "as JSON"}], **guarded))


def image(url: str) -> dict[str, Any]:
    """An image part."""
    return {"type": "image_url", "image_url": {"url": url}}


def test_images_are_capped_before_the_user_is_known() -> None:
    many = [{"role": "user", "content": [image("http://x")] * 21}]
    no = refusal(body(messages=many))
    assert (no.reason.key, dict(no.facts)) == (
        "TooManyExtraSourceImages",
        {"param": "messages[0].content[20].image_url"},
    )
    big = "data:image/png;base64," + "A" * (4 * 1024 * 1024 * 4 // 3)
    seven = [{"role": "user", "content": [image(big)] * 7}]
    no = refusal(body(messages=seven))
    assert no.reason.key == "SourceImageSizeExceeded"
    assert str(25 * 1024 * 1024) in no.message
    assert no.facts["param"] == "messages[0].content[6].image_url"


def test_a_nul_is_refused_with_its_place_and_an_escaped_backslash_is_not_one() -> None:
    no = refusal(body(messages=[{"role": "user", "content": "a\0b"}]))
    assert no.reason.key == "NulByteInPayload"
    assert no.message.startswith("messages[0].content")
    parsed(body(messages=[{"role": "user", "content": "\\u0000"}]))
    parsed(body(user="a\0b", metadata={"a\0": "b\0"}))  # nobody stores them


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"model":"a","model":"b"}', b"\xff", b'{"a":NaN}', b"null"])
def test_malformed_json_is_a_bad_request(raw: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        parse_chat_request(raw)
    assert caught.value.reason.word == "BadRequest"


def test_developer_is_stored_as_system_and_defaults_are_not_stored() -> None:
    request = parsed(
        body(
            messages=[{"role": "developer", "content": "x", "name": "n"}, USER],
            tools=[TOOL],
            tool_choice="auto",
            parallel_tool_calls=True,
            response_format={"type": "text"},
        )
    )
    assert request.messages[0] == {"role": "system", "content": "x", "name": "n"}
    assert chat_extras(request) == {"tools": [TOOL]}
    none = parsed(body(tools=[TOOL], tool_choice="none", parallel_tool_calls=False))
    assert chat_extras(none) == {"tools": [TOOL], "tool_choice": "none", "parallel_tool_calls": False}
    assert tools_temperature(none) is None
    assert tools_temperature(request) == 1.0


EQUAL = [
    (body(max_tokens=100), body(max_completion_tokens=100)),
    (body(), body(max_tokens=512)),
    (body(), body(horde={"slow_workers": True, "context_fit": "truncate_oldest"})),
    (body(), body(model=None, models=["m"])),
    (body(model=None, models=["a", "b"]), body(model=None, models=["b", "a"])),
    (body(), body(stream=True, user="u", metadata={"a": 1}, stream_options={})),
    (body(), body(horde={"max_kudos": 5, "include_reasoning": False, "availability_mode": "fail_fast"})),
    (body(tools=[]), body(tools=None)),
    (body(temperature=1, presence_penalty=0), body(temperature=1.0, presence_penalty=0.0)),
]
DIFFERENT = [
    (body(), body(max_tokens=100)),
    (body(), body(messages=[{"role": "user", "content": "hello!"}])),
    (body(), body(horde={"conformance": "best_effort"})),
    (body(tools=[TOOL]), body(tools=[TOOL], tool_choice="none")),
    (body(), body(model="n")),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_what_asks_for_the_same_has_the_same_fingerprint(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert fingerprint(parsed(one)) == fingerprint(parsed(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_asks_for_something_else_has_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert fingerprint(parsed(one)) != fingerprint(parsed(other))


FORMATS: list[dict[str, Any] | None] = [
    None,
    {"type": "text"},
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "string"}, "strict": True}},
]
CHOICES: list[Any] = [None, "none", "auto", "required", {"type": "function", "function": {"name": "lookup"}}]
BODIES = st.fixed_dictionaries(
    {
        "model": st.just("m"),
        "messages": st.sampled_from(
            [
                [USER],
                [{"role": "user", "content": [image("http://x")]}],
                [call("a"), answer("a"), USER],
                [{"role": "developer", "content": "d"}, USER],
            ]
        ),
        "tools": st.sampled_from([None, [], [TOOL]]),
        "tool_choice": st.sampled_from(CHOICES),
        "parallel_tool_calls": st.sampled_from([None, True, False]),
        "response_format": st.sampled_from(FORMATS),
        "temperature": st.sampled_from([None, 0, 0.7, 5]),
        "frequency_penalty": st.sampled_from([None, 0, 0.0, 1]),
        "presence_penalty": st.sampled_from([None, 0, -2]),
        "seed": st.sampled_from([None, 0, 7]),
        "reasoning_effort": st.sampled_from([None, "none", "high"]),
        "horde": st.sampled_from([None, {}, {"conformance": "best_effort"}]),
    }
)


@given(sent=BODIES)
def test_our_derivation_is_the_sdks(sent: dict[str, Any]) -> None:
    if not sent["tools"] and (sent["tool_choice"] is not None or sent["parallel_tool_calls"] is not None):
        assert refusal(sent).reason.key == "ChatRequestConflict"
        return
    request = parsed(sent)
    needed = chat_policy.chat_request_requirements(sent)
    assert required_features(request, request.messages) == sorted(needed.declarations)
    forwarded = needed.traits.temperature if needed.traits.forwards_tools else None
    assert tools_temperature(request) == forwarded
    assert chat_limits.check_chat_request_limits(sent) == () or sent["temperature"] == 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = [
    "model",
    "models",
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "horde",
    "stop",
    "n",
    "seed",
    "stream",
]


@given(key=st.sampled_from([*KEYS, "max_tokens", "temperature", "reasoning_effort", "whatever"]), value=JSON)
def test_any_value_anywhere_is_a_request_or_a_refusal(key: str, value: Any) -> None:
    with contextlib.suppress(Refusal):  # anything else is a fault
        parsed(body(**{key: value}))


@given(value=JSON)
def test_any_message_is_a_request_or_a_refusal(value: Any) -> None:
    for sent in (body(messages=[value]), body(messages=[{"role": "user", "content": value}]), body(tools=[value])):
        with contextlib.suppress(Refusal):
            parsed(sent)


def test_a_big_body_is_checked_in_a_moment() -> None:
    properties = {f"p{n}": {"type": "string"} for n in range(10)}
    tools = [
        {"type": "function", "function": {"name": f"f{n}", "parameters": {"type": "object", "properties": properties}}}
        for n in range(128)
    ]
    raw = json.dumps(body(messages=[{"role": "user", "content": "x" * 1000}] * 1000, tools=tools)).encode()
    fastest = min(_seconds(raw) for _ in range(5))
    assert fastest < 0.25  # seconds of CPU: several times what it takes, so that only a wrong algorithm fails


def _seconds(raw: bytes) -> float:
    started = time.process_time()
    parse_chat_request(raw)
    return time.process_time() - started
