import json
from typing import Any

import pytest

from horde.contract.chat.images import with_image_urls
from services.dispatch.rules.payload import chat_payload, narrowed, text_payload

MESSAGES = '[{"role": "user", "content": "hé\\"llo"}]'


def a_chat(**changed: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "messages": MESSAGES,
        "params": "{}",
        "extras": None,
        "max_length": 64,
        "max_context_length": 2048,
        "images": {},
        **changed,
    }
    read: dict[str, Any] = json.loads(chat_payload(**fields))
    return read


def test_messages_arrive_as_stored() -> None:
    assert a_chat()["messages"] == [{"role": "user", "content": 'hé"llo'}]


def test_a_chat_job_carries_no_prompt() -> None:
    assert "prompt" not in a_chat()


def test_sampling_that_was_sent_wins_and_null_counts_as_not_sent() -> None:
    read = a_chat(params='{"temperature": 0, "top_p": null, "seed": null}')

    assert (read["temperature"], read["top_p"]) == (0, 1.0)
    assert "seed" not in read


def test_the_budgets_are_the_rows_not_what_was_sent() -> None:
    read = a_chat(params='{"max_length": 9, "max_context_length": 9}')

    assert (read["max_length"], read["max_context_length"], read["n"]) == (64, 2048, 1)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_auto_and_required_are_sent_as_stored(choice: str) -> None:
    extras = {"tools": [{"type": "function", "function": {"name": "a"}}], "tool_choice": choice}

    assert narrowed(extras) == extras


def test_narrowing_leaves_the_stored_value_alone() -> None:
    extras = {"tools": [], "tool_choice": "none", "stream_progress": True}

    assert narrowed(extras) == {"stream_progress": True}
    assert extras["tool_choice"] == "none"


def test_only_image_parts_are_replaced() -> None:
    text = {"type": "text", "text": "horde-r2://k"}
    image = {"type": "image_url", "image_url": {"url": "horde-r2://k"}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "horde-r2://k"},
        {"role": "user", "content": [text, image]},
    ]

    shown = with_image_urls(messages, {"k": "https://there"})

    assert shown[0] == messages[0]
    assert shown[1]["content"] == [text, {"type": "image_url", "image_url": {"url": "https://there"}}]


def test_a_text_job_drops_undeclared_keys() -> None:
    sent = '{"temperature": 1, "seed": 3, "reasoning_effort": "low", "sampler_order": [6, 0, 1, 3, 4, 2, 5]}'

    read = json.loads(text_payload(prompt="p", params=sent, max_length=80, max_context_length=2048))

    assert "seed" not in read
    assert "reasoning_effort" not in read
    assert read["sampler_order"] == [6, 0, 1, 3, 4, 2, 5]
