"""What a worker declares: what is proven or vouched for, and nothing else."""

from typing import Any

import pytest

from horde.cli.worker import declaring
from horde.cli.worker.backend import Proven
from horde.cli.worker.options import WorkerOptions, api_root, backend_root
from horde.failures import StartError


def options(**changed: Any) -> WorkerOptions:
    written = {"url": "http://h", "api_key": "k", "backend": "http://b", "model": "a model", "name": "w"}
    return WorkerOptions(**{**written, **changed})


def proven(**changed: Any) -> Proven:
    written = {"model": "m", "context_length": 4096, "slots": None, "is_llama_cpp": False, "reads_images": False}
    return Proven(**{**written, **changed})


def features(flags: WorkerOptions, found: Proven) -> set[str]:
    return set(declaring.declaration(flags, found).to_pop_fields()["chat_features"])


def test_of_an_unknown_server_only_the_overflow_check_is_declared_since_the_worker_makes_it() -> None:
    assert features(options(), proven()) == {"prompt_overflow_refused"}
    assert declaring.checks_estimate(options(), proven())
    assert features(options(is_overflow_refused=False), proven()) == set()
    assert not declaring.checks_estimate(options(is_overflow_refused=False), proven())
    assert not declaring.checks_estimate(options(is_overflow_refused=True), proven())


def test_llama_cpp_proves_its_sampling_its_grammar_and_its_refusal() -> None:
    found = proven(is_llama_cpp=True, slots=4)
    assert features(options(), found) == {
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "json_object",
        "json_schema",
        "structured_output_enforced",
        "prompt_overflow_refused",
    }
    assert not declaring.checks_estimate(options(), found)
    assert declaring.threads(options(), found) == 4


def test_images_are_declared_with_the_transport_that_the_backend_reads() -> None:
    fields = declaring.declaration(options(), proven(is_llama_cpp=True, reads_images=True)).to_pop_fields()
    assert "vision" in fields["chat_features"]
    assert fields["image_transports"] == ["base64"]


def test_the_operator_may_vouch_and_withhold() -> None:
    flags = options(features=frozenset({"tool_choice_enforced", "seed"}), excluded=frozenset({"seed"}))
    assert features(flags, proven()) == {
        "tools",
        "tool_choice_enforced",
        "single_tool_call_enforced",
        "prompt_overflow_refused",
    }
    with pytest.raises(StartError, match="no such word"):
        declaring.declaration(options(excluded=frozenset({"sed"})), proven())


def test_a_worker_that_serves_chat_only_says_so_and_names_its_limits() -> None:
    fields = declaring.declaration(options(max_length=100), proven()).to_pop_fields()
    assert fields["prompt_jobs"] is False
    assert fields["model_id"] == "a model"
    assert fields["chat_limits"] == {"max_context_length": 4096, "max_length": 100}


def test_more_context_than_the_backend_has_is_a_bad_start() -> None:
    with pytest.raises(StartError, match="4096"):
        declaring.limits(options(max_context_length=5000), proven())
    assert declaring.limits(options(), proven(context_length=None)).max_context_length == 2048


@pytest.mark.parametrize("written", ["http://h", "http://h/", "http://h/api", "http://h/api/", "http://h/api/v2"])
def test_the_horde_may_be_written_with_or_without_its_path(written: str) -> None:
    assert api_root(written) == "http://h/api/v2"
    assert api_root("http://h/v2") == "http://h/v2"


def test_the_backend_may_be_written_with_or_without_v1() -> None:
    assert backend_root("http://b/v1/") == backend_root("http://b") == "http://b"
