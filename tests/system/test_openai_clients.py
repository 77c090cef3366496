"""An unmodified OpenAI client gets its answers, streamed and whole."""

from collections.abc import Iterator

import openai
import pytest

from tests.system.services import Services
from tests.system.volunteer import Volunteer

ANONYMOUS = "0000000000"
MODEL = "test/Openai-7B"


@pytest.fixture(scope="module")
def worker(services: Services) -> Iterator[Volunteer]:
    owner = services.account("openai_owner")
    with Volunteer(services.url, owner.api_key, name="openai volunteer", model=MODEL) as volunteer:
        yield volunteer


@pytest.fixture
def client(services: Services) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{services.url}/v1", api_key=ANONYMOUS, max_retries=0, timeout=60) as client:
        yield client


def test_a_streamed_completion_arrives_in_pieces_and_ends_with_a_reason(
    client: openai.OpenAI, worker: Volunteer
) -> None:
    chunks = list(
        client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "Name three colours."}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == "You said: Name three colours. ✓"
    assert sum(bool(choice.delta.content) for choice in choices) > 3
    assert choices[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 11
    assert len({(chunk.id, chunk.created, chunk.model, chunk.system_fingerprint) for chunk in chunks}) == 1
    assert worker.posts > 0


def test_a_plain_completion_is_the_stored_reply_with_its_usage(client: openai.OpenAI, worker: Volunteer) -> None:
    completion = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "Hello"}], max_tokens=64, temperature=0.2
    )
    assert completion.choices[0].message.content == "You said: Hello ✓"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == worker.model
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_the_model_list_names_what_an_online_worker_serves(client: openai.OpenAI, worker: Volunteer) -> None:
    assert worker.model in [model.id for model in client.models.list()]
    assert client.models.retrieve(worker.model).owned_by == "ai-horde"


def test_a_model_nobody_knows_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="no/Such", messages=[{"role": "user", "content": "Hello"}])
    assert refused.value.code == "model_not_found"


def test_a_wrong_key_is_an_authentication_error(services: Services, worker: Volunteer) -> None:
    with (
        openai.OpenAI(base_url=f"{services.url}/v1", api_key="nobody-has-this-key-00", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.chat.completions.create(model=worker.model, messages=[{"role": "user", "content": "Hello"}])
