"""How a body of /v1/chat/completions becomes a native one."""

from typing import Any

import orjson
import pytest

from horde.contract.chat import parse_chat_request
from horde.contract.refusal import Refusal
from services.gateway.openai.errors import FrontError
from services.gateway.openai.request import Completion, translate


def body(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **more}


def translated(**more: Any) -> Completion:
    return translate(body(**more), "refuse")[0]


def native(**more: Any) -> Any:
    return translate(body(**more), "refuse")[1]


def sent_on(*messages: Any) -> Any:
    return translate({"model": "m", "messages": list(messages)}, "refuse")[1]["messages"]


@pytest.mark.parametrize(
    "neutral",
    [
        {"logprobs": False, "top_logprobs": 0, "logit_bias": {}, "modalities": ["text"], "store": False},
        {"service_tier": "auto"},
        {"service_tier": "default", "tools": [], "stop": [], "functions": [], "verbosity": "medium", "n": 1},
        {"repetition_penalty": 1.0, "top_k": -1, "min_p": 0.0},
        {"metadata": {"a": "b"}, "user": "u", "safety_identifier": "s", "prompt_cache_key": "k"},
        {"prompt_cache_retention": "24h", "prompt_cache_options": {}},
        {"tool_choice": None, "audio": None, "prediction": None, "seed": None, "anything": None},
        {"stream": False, "stream_options": {"include_usage": True, "include_obfuscation": False}},
    ],
)
def test_what_asks_for_nothing_is_dropped(neutral: dict[str, Any]) -> None:
    assert native(**neutral) == body()


@pytest.mark.parametrize(
    ("wanted", "param"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": False}, "top_logprobs"),
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"store": True}, "store"),
        ({"audio": {}}, "audio"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"service_tier": "flex"}, "service_tier"),
        ({"stream_options": {"continuous_usage_stats": True}}, "stream_options.continuous_usage_stats"),
        ({"horde": {"dry_run": True}}, "horde.dry_run"),
    ],
)
def test_what_the_horde_cannot_do_is_refused(wanted: dict[str, Any], param: str) -> None:
    with pytest.raises(FrontError) as refused:
        translated(**wanted)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "unsupported_parameter", param)


@pytest.mark.parametrize(
    ("wanted", "code", "param"),
    [
        ({"max_tokens": 15}, "integer_below_min_value", "max_tokens"),
        ({"max_completion_tokens": 16385}, "integer_above_max_value", "max_completion_tokens"),
        ({"max_tokens": 20.5}, "invalid_type", "max_tokens"),
        ({"temperature": 2.1}, "decimal_above_max_value", "temperature"),
        ({"top_p": -0.1}, "decimal_below_min_value", "top_p"),
        ({"presence_penalty": "1"}, "invalid_type", "presence_penalty"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "array_above_max_length", "stop"),
        ({"stream": "yes"}, "invalid_type", "stream"),
        ({"stream_options": []}, "invalid_type", "stream_options"),
        ({"stream_options": {"include_usage": 1}}, "invalid_type", "stream_options.include_usage"),
        ({"models": ["a", "b"]}, "conflicting_parameters", "model"),
    ],
)
def test_openais_own_ranges_hold(wanted: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(FrontError) as refused:
        translated(**wanted)
    assert (refused.value.code, refused.value.param) == (code, param)


def test_few_tokens_are_raised_only_when_the_operator_says_so() -> None:
    assert translate(body(max_tokens=1), "raise")[1]["max_tokens"] == 16
    with pytest.raises(FrontError):
        translate(body(max_tokens=0), "raise")


def test_a_model_that_is_one_of_models_may_stand_beside_them() -> None:
    assert native(models=["m", "n"]) == {"models": ["m", "n"], "messages": body()["messages"]}


def test_a_top_p_of_zero_asks_for_the_likeliest_token() -> None:
    assert native(top_p=0)["top_p"] == 0.001


@pytest.mark.parametrize(
    ("wanted", "buffered"),
    [
        ({}, False),
        ({"response_format": {"type": "text"}}, False),
        ({"response_format": {"type": "json_object"}}, True),
        ({"response_format": {"type": "json_object"}, "horde": {"conformance": "best_effort"}}, False),
        ({"tool_choice": "auto"}, False),
        ({"tool_choice": "required"}, True),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, True),
    ],
)
def test_replies_that_can_still_be_refused_are_buffered(wanted: dict[str, Any], buffered: bool) -> None:
    assert translated(**wanted).buffered is buffered


@pytest.mark.parametrize("wrong", [[], {}, [[]], 5, None, "text"])
@pytest.mark.parametrize("key", ["response_format", "tool_choice", "stop", "reasoning_effort", "modalities", "stream"])
def test_a_value_of_a_wrong_type_is_refused_or_left_to_who_judges_it(key: str, wrong: object) -> None:
    for value in (wrong, {"type": wrong}):
        try:
            told: object = translated(**{key: value})
        except (FrontError, Refusal) as refused:
            told = refused
        assert isinstance(told, Completion | FrontError | Refusal)


def test_the_hordes_own_options_are_read_and_passed_on() -> None:
    horde = {"availability_mode": "fail_fast", "include_reasoning": False, "only": None}
    wanted = translated(horde=horde)
    assert (wanted.fail_fast, wanted.include_reasoning) == (True, False)
    assert native(horde=horde)["horde"] == {"availability_mode": "fail_fast", "include_reasoning": False}
    assert translated(include_reasoning=False).include_reasoning is False
    with pytest.raises(Refusal):
        translated(horde={"models": []})


def test_a_replayed_reply_loses_what_only_replies_have() -> None:
    call: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    replayed: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "audio": None,
        "function_call": None,
        "parsed": {"a": 1},
        "reasoning_content": "hm",
        "reasoning_details": [{}],
        "tool_calls": [{**call, "index": 0, "function": {**call["function"], "parsed_arguments": {}}}],
    }
    assert sent_on(replayed) == [{"role": "assistant", "tool_calls": [call]}]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ({"role": "assistant", "content": "x", "tool_calls": []}, {"role": "assistant", "content": "x"}),
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
        ({"role": "assistant", "content": None, "refusal": "No."}, {"role": "assistant", "content": "No."}),
        ({"role": "assistant", "content": "x", "refusal": "No."}, {"role": "assistant", "content": "x\nNo."}),
        ({"role": "assistant", "content": "x", "refusal": ""}, {"role": "assistant", "content": "x"}),
        ({"role": "assistant", "content": None, "refusal": ""}, {"role": "assistant", "content": ""}),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "x"}], "refusal": ""},
            {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        ),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}, {"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "No."}, {"type": "text", "text": "x"}]},
        ),
        (
            {"role": "tool", "tool_call_id": "c", "name": "f", "content": "x"},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ),
        ({"role": "user", "name": "u", "content": "x"}, {"role": "user", "name": "u", "content": "x"}),
        ("no message", "no message"),
    ],
)
def test_messages_are_cleaned_but_never_made_up(message: Any, kept: Any) -> None:
    assert sent_on(message) == [kept]


def test_what_is_left_is_a_native_body() -> None:
    wanted, made = translate(
        body(
            stream=True,
            stream_options={"include_usage": True},
            tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": None}}],
            tool_choice="required",
            parallel_tool_calls=False,
            reasoning_effort="low",
            max_completion_tokens=100,
            logprobs=None,
        ),
        "refuse",
    )
    request = parse_chat_request(wanted.native(made, None))
    assert request.stream
    assert request.max_length == 100
    assert wanted.include_usage


def test_an_operation_key_joins_the_hordes_options() -> None:
    key = translated(horde={"operation_key": "6f1c1f2e-8d0b-5c57-9a34-3d6a0a4c7e11"}).operation_key
    wanted, made = translate(body(horde={"max_kudos": 5}), "refuse")
    assert orjson.loads(wanted.native(made, key))["horde"] == {"max_kudos": 5, "operation_key": str(key)}


def test_the_prompts_characters_are_those_of_its_texts() -> None:
    parts = [{"type": "text", "text": "four"}, {"type": "image_url", "image_url": {"url": "https://x"}}]
    messages = [{"role": "user", "content": parts}, {"role": "user", "content": "x"}]
    assert translated(messages=messages).prompt_characters == 5


def test_an_empty_refusal_beside_tool_calls_adds_no_content() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    replayed = {"role": "assistant", "content": None, "refusal": "", "tool_calls": [call]}
    assert sent_on(replayed) == [{"role": "assistant", "tool_calls": [call]}]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"role": "user", "content": [{"type": "refusal", "refusal": "No."}]}, "messages[0].content[0].type"),
        ({"role": "assistant", "content": "x", "refusal": 5}, "messages[0].refusal"),
        ({"role": "assistant", "content": [{"type": "refusal"}]}, "messages[0].content[0].text"),
    ],
)
def test_only_what_an_assistant_refused_becomes_text(message: dict[str, Any], path: str) -> None:
    wanted, made = translate({"model": "m", "messages": [message]}, "refuse")
    with pytest.raises(Refusal) as refused:
        parse_chat_request(wanted.native(made, None))
    assert refused.value.facts["param"] == path
