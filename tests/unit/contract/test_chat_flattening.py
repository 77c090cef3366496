"""The flattened prompt, its estimate, and which turns go first."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from horde.contract.chat.flattening import droppable_turns, estimate_tokens, flatten, truncate_oldest
from horde.contract.chat.images import count_images

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def said(role: str, content: Any = "x", **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **keys}


def test_messages_parts_images_calls_and_tools_are_joined_by_newlines() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "http://x"}}]
    messages = [
        said("system", "be brief"),
        said("user", parts),
        said("assistant", None, tool_calls=[CALL]),
        said("tool", "sunny", tool_call_id="c"),
    ]
    tools = [{"type": "function", "function": {"name": "f"}}]
    assert flatten(messages, tools) == (
        "system: be brief\nuser: look\n[image]\n"
        'assistant: [{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]\n'
        'tool: sunny\n[{"type":"function","function":{"name":"f"}}]'
    )


def test_three_characters_are_a_token_and_an_image_is_512() -> None:
    assert [estimate_tokens(n, 0) for n in (0, 1, 3, 4)] == [0, 1, 1, 2]
    assert estimate_tokens(3, 2) == 1025


def test_a_turn_is_a_user_message_with_its_reply_and_that_replys_tools() -> None:
    messages = [
        said("system"),
        said("user"),
        said("assistant", tool_calls=[CALL]),
        said("tool"),
        said("assistant"),
        said("user"),
        said("user"),
        said("assistant"),
        said("user", "latest"),
        said("assistant"),
    ]
    assert list(droppable_turns(messages)) == [range(1, 4), range(4, 5), range(5, 6), range(6, 8)]


def test_without_a_user_message_everything_but_system_may_go() -> None:
    messages = [said("assistant"), said("system"), said("assistant", tool_calls=[CALL]), said("tool")]
    assert list(droppable_turns(messages)) == [range(1), range(2, 4)]


def test_what_never_fits_is_not_truncated() -> None:
    assert truncate_oldest([said("user", "x" * 100)], (), 10) is None
    assert truncate_oldest([said("assistant", "x" * 100), said("assistant", "x" * 100)], (), 10) is None


CONTENT = st.one_of(
    st.text(max_size=30),
    st.lists(st.just({"type": "image_url", "image_url": {"url": "http://x"}}), max_size=2),
)
MESSAGES = st.lists(st.builds(said, st.sampled_from(["system", "user", "assistant"]), CONTENT), min_size=1, max_size=12)


@given(messages=MESSAGES, most=st.integers(0, 200), has_tools=st.booleans())
def test_the_kept_messages_fit_and_their_estimate_is_the_flattened_ones(
    messages: list[dict[str, Any]], most: int, has_tools: bool
) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}] if has_tools else []
    shorter = truncate_oldest(messages, tools, most)
    if shorter is None:
        return
    assert shorter.before == estimate_tokens(len(flatten(messages, tools)), count_images(messages))
    assert shorter.after <= most
    assert shorter.kept
    assert shorter.after == estimate_tokens(len(flatten(shorter.kept, tools)), count_images(shorter.kept))
    assert [m for m in messages if m["role"] == "system"] == [m for m in shorter.kept if m["role"] == "system"]
