"""The shape of a reply, the verification table, and what is charged and stored of it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.dispatch.rules import reply as rules
from services.dispatch.rules.reply import ChatReply, FormatCheck, ToolCall

TOOLS = [{"type": "function", "function": {"name": "look"}}, {"type": "function", "function": {"name": "listen"}}]
FORCED = {"type": "function", "function": {"name": "look"}}
INVALID, NONCONFORMANT = reasons.CHAT_SUBMIT_INVALID, reasons.CHAT_SUBMIT_NONCONFORMANT


def call(identity: str = "a", name: str = "look", **changed: Any) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}, **changed}


def said(content: object = "x", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def parsed(message: object, finish: str | None = "stop", native: str | None = None, counts: object = None) -> ChatReply:
    return rules.parse_chat_reply(message, finish, native, counts)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "text",
        [],
        {},
        {"content": "x"},
        said(role="user"),
        said(None),
        said(None, tool_calls=[]),
        said(1),
        said(["x"]),
        said(tool_calls={}),
        said(tool_calls=[call()] * 129),
        said(tool_calls=["x"]),
        said(tool_calls=[call(type="other")]),
        said(tool_calls=[call(function=None)]),
        said(tool_calls=[call(function={"name": "look"})]),
        said(tool_calls=[call(function={"name": "look", "arguments": {}})]),
        said(tool_calls=[call(id="")]),
        said(tool_calls=[call(id=None)]),
        said(reasoning_content=1),
        said(reasoning_content="ö" * (512 * 1024 + 1)),
    ],
)
def test_a_message_of_another_shape_is_refused(message: object) -> None:
    with pytest.raises(Refusal) as refused:
        parsed(message)
    assert refused.value.reason is INVALID


@pytest.mark.parametrize(
    ("finish", "native", "counts"),
    [
        (None, None, None),
        ("done", None, None),
        ("tool_calls", None, None),
        ("stop", "n" * 33, None),
        ("stop", None, []),
        ("stop", None, {"prompt_tokens": -1}),
        ("stop", None, {"completion_tokens": 10_000_001}),
        ("stop", None, {"reasoning_tokens": "3"}),
        ("stop", None, {"prompt_tokens": True}),
        ("stop", None, {"prompt_tokens": 1.0}),
    ],
)
def test_reasons_and_counts_out_of_range_are_refused(finish: str | None, native: str | None, counts: object) -> None:
    with pytest.raises(Refusal) as refused:
        parsed(said(), finish, native, counts)
    assert refused.value.reason is INVALID


def test_a_reply_at_every_limit_is_accepted() -> None:
    reply = parsed(
        said(None, tool_calls=[call(str(number)) for number in range(128)], reasoning_content="ö" * (512 * 1024)),
        "tool_calls",
        "n" * 32,
        {"prompt_tokens": 0, "completion_tokens": 10_000_000, "reasoning_tokens": None, "other": "ignored"},
    )
    assert len(reply.tool_calls) == 128
    assert reply.counts == {"prompt_tokens": 0, "completion_tokens": 10_000_000}


def test_an_empty_list_of_calls_is_none_and_unknown_keys_are_not_stored() -> None:
    reply = parsed(said("x", tool_calls=[], refusal=None))
    assert reply.message() == {"role": "assistant", "content": "x"}
    with_call = parsed(said(None, tool_calls=[call(index=0)]))
    assert with_call.message() == {"role": "assistant", "content": None, "tool_calls": [call()]}


def test_nul_is_replaced_in_every_string() -> None:
    reply = parsed(
        said(
            "a\0",
            reasoning_content="b\0",
            tool_calls=[call("c\0", function={"name": "d\0", "arguments": "e\0"})],
        ),
        native="f\0",
    )
    assert "\\u0000" not in json.dumps([reply.message(), reply.native_finish_reason])
    assert json.dumps(reply.message(), ensure_ascii=False).count("\N{REPLACEMENT CHARACTER}") == 5


def test_content_reasoning_and_calls_are_all_charged() -> None:
    reply = parsed(said("abc", reasoning_content="defgh", tool_calls=[call()]))
    assert reply.characters == 3 + 5 + len("look") + len("{}")


@pytest.mark.parametrize(
    ("message", "is_empty"),
    [(said(""), True), (said(" \n"), True), (said("x"), False), (said("", tool_calls=[call()]), False)],
)
def test_a_reply_with_calls_is_never_empty(message: object, is_empty: bool) -> None:
    assert parsed(message).is_empty is is_empty


@pytest.mark.parametrize(
    ("calls", "extras", "strict", "best_effort"),
    [
        ([call()], {}, INVALID, INVALID),
        ([call(name="other")], {"tools": TOOLS}, INVALID, INVALID),
        ([call("a"), call("a")], {"tools": TOOLS}, INVALID, INVALID),
        ([call()], {"tools": TOOLS, "tool_choice": "none"}, NONCONFORMANT, None),
        ([], {"tools": TOOLS, "tool_choice": "required"}, NONCONFORMANT, None),
        ([], {"tools": TOOLS, "tool_choice": FORCED}, NONCONFORMANT, None),
        ([call(name="listen")], {"tools": TOOLS, "tool_choice": FORCED}, NONCONFORMANT, None),
        ([call(name="look")], {"tools": TOOLS, "tool_choice": FORCED}, None, None),
        ([call("a"), call("b", "listen")], {"tools": TOOLS}, None, None),
        ([], {"tools": TOOLS}, None, None),
        # the call that is dropped is not checked
        ([call("a"), call("a", "other")], {"tools": TOOLS, "parallel_tool_calls": False}, None, INVALID),
        ([], {"response_format": {"type": "text"}}, None, None),
    ],
)
def test_the_verification_table(
    calls: list[dict[str, Any]], extras: dict[str, Any], strict: Reason | None, best_effort: Reason | None
) -> None:
    reply = parsed(said("x", tool_calls=calls))
    for mode, expected in ((True, strict), (False, best_effort)):
        if expected is None:
            assert rules.verify(reply, extras, strict=mode).format_check is None
            continue
        with pytest.raises(Refusal) as refused:
            rules.verify(reply, extras, strict=mode)
        assert refused.value.reason is expected


def test_parallel_calls_are_reduced_to_the_first_under_strict_alone() -> None:
    reply = parsed(said(None, tool_calls=[call("a"), call("b")]), "tool_calls")
    extras = {"tools": TOOLS, "parallel_tool_calls": False}
    strict, lax = (rules.verify(reply, extras, strict=mode) for mode in (True, False))
    assert ([made.id for made in strict.reply.tool_calls], strict.dropped_calls) == (["a"], 1)
    assert strict.reply.finish_reason == "tool_calls"
    assert (len(lax.reply.tool_calls), lax.dropped_calls) == (2, 0)


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize(
    ("choice", "finish", "stored"),
    [(FORCED, "tool_calls", "stop"), ("required", "tool_calls", "tool_calls"), (FORCED, "length", "length")],
)
def test_a_forced_function_finishes_with_stop(mode: bool, choice: object, finish: str, stored: str) -> None:
    reply = parsed(said(None, tool_calls=[call()]), finish)
    assert rules.verify(reply, {"tools": TOOLS, "tool_choice": choice}, strict=mode).reply.finish_reason == stored


@pytest.mark.parametrize(
    ("wanted", "check"),
    [
        ({"type": "json_object"}, FormatCheck("x", None)),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}, FormatCheck("x", None)),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": True}}, FormatCheck("x", {})),
    ],
)
def test_a_format_is_checked_under_strict_unless_calls_stand_in_for_the_content(
    wanted: dict[str, Any], check: FormatCheck
) -> None:
    extras = {"tools": TOOLS, "response_format": wanted}
    with_both = parsed(said("x", tool_calls=[call()]))
    assert rules.verify(parsed(said("x")), extras, strict=True).format_check == check
    assert rules.verify(with_both, extras, strict=True).format_check == check
    assert rules.verify(replace(with_both, content=None), extras, strict=True).format_check is None
    assert rules.verify(replace(with_both, content=""), extras, strict=True).format_check is None
    assert rules.verify(parsed(said("x")), extras, strict=False).format_check is None


@pytest.mark.parametrize(
    "sent", [{}, ["x"], [{}], [{"type": "censorship"}], [{"type": "censorship", "value": "csam", "ref": "r" * 256}]]
)
def test_metadata_of_another_kind_is_refused(sent: object) -> None:
    with pytest.raises(Refusal) as refused:
        rules.parse_gen_metadata(sent)
    assert refused.value.reason is reasons.VALIDATION_FAILED


def test_csam_by_state_or_by_metadata_censors() -> None:
    entry: dict[str, object] = {"type": "censorship", "value": "csam"}
    assert rules.censorship("ok", None) == (False, None)
    assert rules.censorship("ok", [entry]) == (True, [entry])
    assert rules.censorship("csam", None) == (True, [entry])
    assert rules.censorship("csam", [entry]) == (True, [entry])
    assert rules.censorship("censored", None) == (True, None)


def test_a_fault_reason_is_counted_by_a_word_of_ours() -> None:
    assert [rules.fault_label(sent) for sent in ("", "prompt_overflow", "my own words")] == [
        "none",
        "prompt_overflow",
        "unknown",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


# a busy machine draws slowly, and that is all that these two would tell
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(message=JSON, calls=JSON, finish=st.none() | st.text(), counts=JSON)
def test_whatever_is_sent_is_parsed_or_refused(
    message: object, calls: object, finish: str | None, counts: object
) -> None:
    for sent in (message, said(message, tool_calls=calls)):
        try:
            reply = parsed(sent, finish, counts=counts)
        except Refusal as refused:
            assert refused.reason is INVALID  # noqa: PT017 - either ending is right
        else:
            assert all(isinstance(made, ToolCall) for made in reply.tool_calls)
