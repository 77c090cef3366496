"""Unmodified JavaScript clients of OpenAI's API, each as its manual uses it, against a worker built on horde-sdk."""

from tests.system.clients.conftest import MODEL, Run
from tests.system.clients.test_python_clients import WEATHER, echo


def test_openai(in_node: Run) -> None:
    found = in_node("use_openai")
    assert found == {
        "create": echo("Hello"),
        "usage": True,
        "stream": echo("Hi"),
        "final": echo("Hey"),
        "parse": WEATHER,
        "tool": "The tool said: Sunny in Paris",
        "refused": ["NotFoundError", 404, "model_not_found", "model"],
        "models": found["models"],
        "model": MODEL,
    }
    assert MODEL in found["models"]


def test_vercel_ai_sdk(in_node: Run) -> None:
    found = in_node("use_ai_sdk")
    assert set(found) == {"compatible", "openai"}
    for answers in found.values():
        assert answers == {
            "generate": echo("Hello"),
            "usage": True,
            "stream": echo("Hi"),
            "stream_usage": True,
            "finish": "stop",
            "object": WEATHER,
            "tool": "The tool said: Sunny in Paris",
        }
