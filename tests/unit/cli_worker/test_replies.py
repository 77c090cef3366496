"""A reply as it grows: think blocks wherever they are cut, tool calls, counts, halves of characters."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.cli.worker.replies import Reply, ThinkSplitter


def split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [*(splitter.feed(piece) for piece in pieces), splitter.finish()]
    return "".join(content for content, _ in parts), "".join(reasoning for _, reasoning in parts)


def cut(text: str, at: list[int]) -> list[str]:
    edges = [0, *sorted(min(place, len(text)) for place in at), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.parametrize(
    ("text", "content", "reasoning"),
    [
        ("plain", "plain", ""),
        ("<think>why</think>\n\nanswer", "answer", "why"),
        ("\n<think>\nwhy", "", "\nwhy"),
        ("<think>why</thin", "", "why</thin"),
        ("<thi", "<thi", ""),
        ("  spaced", "  spaced", ""),
        ("a <think>not leading</think>", "a <think>not leading</think>", ""),
        ("<think></think>x", "x", ""),
        ("<think>a</think>", "", "a"),
        ("", "", ""),
    ],
)
@given(at=st.lists(st.integers(0, 40), max_size=8))
def test_a_leading_think_block_is_reasoning_wherever_the_stream_is_cut(
    text: str, content: str, reasoning: str, at: list[int]
) -> None:
    assert split(cut(text, at)) == (content, reasoning)


@given(st.text(), st.lists(st.integers(0, 40), max_size=8))
def test_nothing_of_a_reply_without_a_block_is_lost(text: str, at: list[int]) -> None:
    if not text.lstrip().startswith("<think>"):
        assert split(cut(text, at)) == (text, "")


def grown(*deltas: dict[str, Any], finish: str | None = "stop", **last: Any) -> Reply:
    reply = Reply()
    for delta in deltas:
        reply.take({"choices": [{"index": 0, "delta": delta}]})
    reply.take({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **last})
    reply.finish()
    return reply


def test_the_backends_own_reasoning_is_kept_apart_under_either_name() -> None:
    reply = grown({"reasoning_content": "so "}, {"reasoning": "then"}, {"content": "yes"})
    assert reply.submit_body("1", "m")["message"] == {
        "role": "assistant",
        "content": "yes",
        "reasoning_content": "so then",
    }


def test_tool_calls_grow_by_their_number_and_keep_the_backends_ids() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}
    second = {"index": 1, "function": {"name": "g", "arguments": "{}"}}
    rest = {"index": 0, "function": {"arguments": ": 1}"}}
    body = grown({"tool_calls": [first, second]}, {"tool_calls": [rest]}, finish="tool_calls").submit_body("1", "m")
    assert body["finish_reason"] == "tool_calls"
    assert body["message"]["content"] is None
    calls = body["message"]["tool_calls"]
    assert calls[0] == {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    assert calls[1]["id"].startswith("call_")


@pytest.mark.parametrize(
    ("native", "word"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "stop"),
        ("eos", "stop"),
    ],
)
def test_the_backends_word_becomes_one_of_the_hordes(native: str, word: str) -> None:
    body = grown({"content": "x"}, finish=native).submit_body("1", "m")
    assert (body["finish_reason"], body["native_finish_reason"]) == (word, native)


def test_reported_counts_are_handed_on_and_strange_ones_left_out() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": "many", "completion_tokens_details": {"reasoning_tokens": 2}}
    body = grown({"content": "x"}, usage=usage).submit_body("1", "m")
    assert (body["prompt_tokens"], body["reasoning_tokens"]) == (3, 2)
    assert "completion_tokens" not in body
    assert "prompt_tokens" not in grown({"content": "x"}).submit_body("1", "m")


def test_a_character_that_the_backend_cut_in_two_is_put_together_and_a_lone_half_replaced() -> None:
    body = grown({"content": "a\ud83d"}, {"content": "\ude00b\ude00"}, {"content": "c\u2028d"}).submit_body("1", "m")
    assert body["message"]["content"] == "a😀b\ufffdc\u2028d"
    json.dumps(body, ensure_ascii=False).encode()


def test_an_empty_reply_is_a_reply() -> None:
    assert grown().submit_body("1", "m")["message"]["content"] == ""
