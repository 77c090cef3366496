"""Unmodified Python clients of OpenAI's API, each as its manual uses it, against a worker built on horde-sdk."""

from typing import Any

from tests.system.clients.conftest import MODEL, Run, Scripted

WEATHER = {"city": "Paris", "degrees": 21}


def echo(text: str) -> str:
    """What the scripted worker answers to a plain message. It holds what clients are known to break on."""
    return f"You said: {text} 🦊\u2028✓"


def test_openai(in_python: Run, scripted: Scripted) -> None:
    before = len(scripted.worker.popped)
    found = in_python("use_openai")
    assert found["create"] == echo("Hello")
    assert found["reasoning"] == "Let me repeat."
    assert (found["finish"], found["usage"] > 0, found["request_id"]) == ("stop", True, True)
    assert (found["streamed"], found["streamed_usage"], found["fingerprints"]) == (echo("Hi"), True, 1)
    assert {"chunk", "content.delta", "content.done"} <= set(found["events"])
    assert found["final"] == echo("Hey")
    assert found["parse"] == WEATHER
    assert found["tool"] == ["Weather", "Weather"]
    assert found["tool_finish"] == "tool_calls"
    assert found["after_tool"] == "The tool said: Sunny"
    assert found["forced"] == ["stop", "function"]
    assert found["streamed_tool"] == ['{"city": "Paris"}']
    assert found["json_object"] == WEATHER
    assert found["refused"] == {
        "unknown_model": ["NotFoundError", "model_not_found", "model"],
        "few_tokens": ["BadRequestError", "integer_below_min_value", "max_tokens"],
        "two_choices": ["BadRequestError", "unsupported_parameter", "n"],
        "wrong_key": ["AuthenticationError", "invalid_api_key", None],
    }
    assert found["repeated"] == echo("Answer slowly, please.")
    slow = [job for job in scripted.worker.popped[before:] if "slowly" in str(job["payload"]["messages"])]
    assert len(slow) == 1, "the SDK's own repeat was queued as a second request"
    assert MODEL in found["models"]
    assert found["model"] == "ai-horde"


def test_langchain(in_python: Run) -> None:
    found = in_python("use_langchain")
    assert found == {
        "invoke": echo("Hello"),
        "usage": found["usage"],
        "finish": "stop",
        "stream": echo("Hi"),
        "stream_usage": True,
        "tool": ["weather", {"city": "Paris"}],
        "after_tool": "The tool said: Sunny in Paris",
        "json_schema": WEATHER,
        "function_calling": WEATHER,
    }
    assert found["usage"] > 0


def test_litellm(in_python: Run) -> None:
    found = in_python("use_litellm")
    assert found.pop("refused") is True
    assert set(found) == {"openai", "hosted_vllm"}
    for answers in found.values():
        assert answers["usage"] > 0
        assert answers == {
            "create": echo("Hello"),
            "usage": answers["usage"],
            "stream": echo("Hi"),
            "tool": "weather",
            "finish": "tool_calls",
        }


def test_pydantic_ai(in_python: Run) -> None:
    expected: dict[str, Any] = {
        "run": echo("Hello"),
        "stream": echo("Hi"),
        "structured": WEATHER,
        "tool": "The tool said: Sunny in Paris",
    }
    assert in_python("use_pydantic_ai") == expected


def test_instructor(in_python: Run) -> None:
    assert in_python("use_instructor") == dict.fromkeys(("tool_call", "json_mode", "json_schema_mode"), WEATHER)


def test_openai_agents(in_python: Run) -> None:
    assert in_python("use_openai_agents") == {
        "run": echo("Hello"),
        "stream": echo("Hi"),
        "tool": "The tool said: Sunny in Paris",
        "typed": WEATHER,
    }
