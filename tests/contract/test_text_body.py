"""A text submit's body: every declared key at its edges."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from horde.contract.refusal import Refusal
from horde.contract.text import TextRequest, parse_text_request

RANGES: dict[str, tuple[float, float, float, float]] = {
    # below the least, least, most, above the most: base-domain 3.2
    "n": (0, 1, 20, 21),
    "max_length": (15, 16, 16384, 16385),
    "max_context_length": (79, 80, 1_048_576, 1_048_577),
    "temperature": (-0.1, 0, 5, 5.1),
    "top_p": (0, 0.001, 1, 1.1),
    "top_k": (-1, 0, 200, 201),
    "top_a": (-0.1, 0, 1, 1.1),
    "typical": (-0.1, 0, 1, 1.1),
    "tfs": (-0.1, 0, 1, 1.1),
    "min_p": (-0.1, 0, 1, 1.1),
    "rep_pen": (0.9, 1, 3, 3.1),
    "rep_pen_range": (-1, 0, 4096, 4097),
    "rep_pen_slope": (-0.1, 0, 10, 10.1),
    "smoothing_factor": (-0.1, 0, 10, 10.1),
    "dynatemp_range": (-0.1, 0, 5, 5.1),
    "dynatemp_exponent": (-0.1, 0, 5, 5.1),
}
FLAGS = ("singleline", "frmtadsnsp", "frmtrmblln", "frmtrmspch", "frmttriminc", "use_default_badwordsids")


def parsed(body: Any) -> TextRequest:
    """The request of a body."""
    return parse_text_request(json.dumps(body).encode())


def errors(body: Any) -> dict[str, str]:
    """What is wrong with a body, by its path."""
    with pytest.raises(Refusal) as refused:
        parsed(body)
    assert refused.value.reason.key == "ValidationFailed"
    found: dict[str, str] = refused.value.facts["errors"]  # type: ignore[assignment] # the shape of this refusal
    return found


@pytest.mark.parametrize("key", RANGES)
def test_a_param_is_taken_at_its_bounds_and_refused_beyond_them(key: str) -> None:
    below, least, most, above = RANGES[key]
    for right in (least, most):
        parsed({"prompt": "a", "params": {key: right}})
    wrongs: tuple[object, ...] = (below, above, "1", True, [1])
    for wrong in wrongs:
        assert set(errors({"prompt": "a", "params": {key: wrong}})) == {f"params.{key}"}


@pytest.mark.parametrize("key", FLAGS)
def test_a_flag_is_true_or_false(key: str) -> None:
    assert parsed({"prompt": "a", "params": {key: True}}).sampling == {key: True}
    assert set(errors({"prompt": "a", "params": {key: 1}})) == {f"params.{key}"}


def test_null_is_the_same_as_absent_and_a_whole_float_is_whole() -> None:
    body = {"prompt": "a", "models": None, "params": {"n": 2.0, "top_k": None}, "softprompt": None}
    request = parsed(body)
    assert (request.jobs, request.sampling, request.models, request.softprompt) == (2, {}, (), None)
    assert isinstance(request.jobs, int)


def test_unknown_keys_are_ignored_and_not_kept() -> None:
    request = parsed({"prompt": "a", "r2": 5, "params": {"mirostat": "yes", "n": 1, "temperature": 1}})
    assert request.sampling == {"temperature": 1}


def test_a_huge_value_is_told_shortly() -> None:
    told = errors({"prompt": ["x" * 100_000], "params": {"sampler_order": [2**64]}, "models": ["m"] * 201})
    assert set(told) == {"prompt", "params.sampler_order.0", "models"}
    assert all(len(text) < 200 for text in told.values())


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"params": []}, "params"),
        ({"prompt": None}, "prompt"),
        ({"softprompt": ""}, "softprompt"),
        ({"softprompt": "x" * 256}, "softprompt"),
        ({"models": "m"}, "models"),
        ({"models": ["a", ""]}, "models.1"),
        ({"workers": [1]}, "workers.0"),
        ({"style": "ab"}, "style"),
        ({"context_fit": "truncate_oldest"}, "context_fit"),
        ({"template_fields": {"a": 1}}, "template_fields.a"),
        ({"extra_source_images": ["x"]}, "extra_source_images.0"),
        ({"allow_downgrade": "yes"}, "allow_downgrade"),
        ({"webhook": "https://" + "x" * 1024}, "webhook"),
    ],
)
def test_a_wrong_value_is_named(keys: Any, path: str) -> None:
    assert set(errors({"prompt": "a", **keys})) == {path}


def test_a_body_that_is_no_object_is_named_by_the_empty_path() -> None:
    assert set(errors([])) == {""}


_SCALARS = some.none() | some.booleans() | some.integers() | some.floats(-1e300, 1e300) | some.text(max_size=20)
_ANYTHING = some.recursive(
    _SCALARS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner),
    max_leaves=8,
)
_PARAMS = some.dictionaries(some.sampled_from([*RANGES, *FLAGS, "sampler_order", "stop_sequence", "x"]), _ANYTHING)
_KEYS = ("models", "workers", "softprompt", "style", "webhook", "template_fields", "context_fit", "dry_run", "x")


@given(some.dictionaries(some.sampled_from(_KEYS), _ANYTHING), _ANYTHING, _PARAMS | _ANYTHING)
def test_no_body_is_anything_but_a_request_or_a_refusal(keys: Any, prompt: Any, params: Any) -> None:
    try:
        request = parsed({**keys, "prompt": prompt, "params": params})
    except Refusal as refused:
        assert refused.reason.key in {"ValidationFailed", "NulByteInPayload", "BadRequest"}  # noqa: PT017 - either way
    else:
        json.dumps(dict(request.sampling))
        assert request.prompt == prompt
