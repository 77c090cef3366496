"""Admission's rules, each by itself."""

from typing import Any

import pytest

from horde.contract.chat.request import ChatRequest, HordeOptions
from horde.contract.models import ModelReference
from horde.contract.pricing import quote, whole
from horde.contract.refusal import Refusal
from services.admission.rules import address, models, pricing, screening, sizing
from services.admission.rules.facts import Availability, Caller, Load, Offer
from services.admission.rules.impossible import nobody_can_serve, unserved_warning

TERMS = pricing.Terms(4096, 512, 60, 300, hold_on_worker_list=False, matched_targeting=False)
LONGEST_ADDRESS = "2001:0db8:85a3:0000:0000:8a2e:0370:7334"


def request(text: str = "hi", **keys: Any) -> ChatRequest:
    """A parsed request."""
    facts: dict[str, Any] = {
        "models": ("m",),
        "is_model_list": False,
        "messages": [{"role": "user", "content": text}],
        "sampling": {},
        "max_length": 100,
        **keys,
    }
    return ChatRequest(**facts)


def available(threads: int = 2, speed: float = 20.0, **facts: Any) -> Availability:
    """Workers that could take a request."""
    gap = {"gap": False, "missing": (), "exceeded": (), **facts}
    return Availability(int(threads > 0), threads, speed, (), **gap)


@pytest.mark.parametrize(
    ("load", "tokens"),
    [
        (Load(0, 0), 4096),
        (Load(1200, 2), 4096),
        (Load(6000, 2), 512),
        (Load(3600, 2), 2304),
        # one job keeps one of two threads busy: the wait doubles
        (Load(1800, 1), 2304),
    ],
)
def test_the_allowance_falls_from_the_ceiling_to_the_floor_with_the_wait(load: Load, tokens: int) -> None:
    assert pricing.allowance(available(), load, TERMS).tokens == tokens


def test_without_a_worker_only_the_floor_is_free() -> None:
    free = pricing.allowance(available(threads=0), Load(0, 0), TERMS)
    assert (free.tokens, free.wait) == (512, None)


def test_the_hold_reads_the_most_expensive_model_and_the_quote_the_first() -> None:
    reference = ModelReference({"small": {"parameters": 7e9}, "big": {"parameters": 70e9}})
    listed = request(models=("small", "big"))
    sized = sizing.size(listed, listed.messages, 100, 4096)
    both = pricing.price(listed, sized, 0, reference, TERMS)
    small = pricing.price(request(models=("small",)), sized, 0, reference, TERMS)
    assert both.quote == small.quote
    assert (small.required, both.required) == (3333, 33333)


@pytest.mark.parametrize(("generations", "tokens", "kudos"), [(19, 5750, 24558), (17, 5864, 22841)])
def test_the_quote_of_an_unknown_model_is_rounded_once(generations: int, tokens: int, kudos: int) -> None:
    quoted = quote(max_length=tokens, max_context_length=tokens, generations=generations, multiplier=None, models=1)
    assert whole(quoted) == kudos


def test_images_are_taxed_and_quoted() -> None:
    sized = sizing.size(request(), request().messages, 100, 4096)
    without = pricing.price(request(), sized, 0, ModelReference({}), TERMS)
    with_two = pricing.price(request(), sized, 2, ModelReference({}), TERMS)
    assert (with_two.tax, with_two.quote - without.quote) == (1100, 1000)


@pytest.mark.parametrize(
    ("tokens", "label"), [(1, "<=512"), (512, "<=512"), (513, "513-1024"), (4096, "2049-4096"), (4097, ">4096")]
)
def test_lengths_fall_into_the_references_buckets(tokens: int, label: str) -> None:
    assert pricing.bucket(tokens) == label


@pytest.mark.parametrize(("billions", "speed"), [(70, 3), (20, 3), (13, 4), (12.9, 5), (None, 5)])
def test_the_lowest_speed_follows_the_first_models_size(billions: float | None, speed: float) -> None:
    reference = ModelReference({} if billions is None else {"m": {"parameters": billions * 1e9}})
    assert models.lowest_speed(request(horde=HordeOptions(slow_workers=False)), reference) == speed
    assert models.lowest_speed(request(), reference) == 0


def test_several_unserved_models_are_all_named() -> None:
    reference = ModelReference({"a": {}, "b": {}})
    with pytest.raises(Refusal) as caught:
        models.refuse_unserved(request(models=("a", "b"), is_model_list=True), [], reference)
    assert caught.value.message == "No worker is currently serving any of the models 'a', 'b'."


def test_one_served_model_is_enough_but_every_one_has_to_be_known() -> None:
    offers = [Offer("a", 1, 2048, 512)]
    models.refuse_unserved(request(models=("a", "b")), offers, ModelReference({"b": {}}))
    with pytest.raises(Refusal) as caught:
        models.refuse_unserved(request(models=("a", "c")), offers, ModelReference({"b": {}}))
    assert caught.value.reason.key == "UnknownChatModel"


@pytest.mark.parametrize(
    ("characters", "widest", "context", "outcome"),
    [
        ((2048 - 100) * 3 - 6, 8192, 2048, "fits"),
        ((2048 - 100) * 3 - 5, 8192, 4096, "grown"),
        ((6000 - 100) * 3 - 6, 6000, 6000, "grown"),
    ],
)
def test_the_context_grows_to_the_next_power_of_two_within_the_bound(
    characters: int, widest: int, context: int, outcome: str
) -> None:
    asked = request("x" * characters)
    sized = sizing.size(asked, asked.messages, 100, widest)
    assert (sized.max_context_length, sized.outcome) == (context, outcome)


@pytest.mark.parametrize("mode", ["grow", "truncate_oldest", "reject"])
def test_what_fits_nowhere_is_refused_with_the_bound(mode: Any) -> None:
    asked = request("x" * 30_000, horde=HordeOptions(context_fit=mode))
    with pytest.raises(sizing.DoesNotFit) as caught:
        sizing.size(asked, asked.messages, 100, 4096)
    assert ("2048" if mode == "reject" else "4096") in caught.value.message


@pytest.mark.parametrize(
    ("stops", "word"), [([str(n) for n in range(129)], "TooManyStopSequences"), (["x" * 2001], "ExcessiveStopSequence")]
)
def test_too_many_or_too_long_stops_are_refused(stops: list[str], word: str) -> None:
    sized = sizing.size(request(), request().messages, 100, 4096)
    sizing.refuse_bad_params(sized, ["x"] * 500)
    with pytest.raises(Refusal) as caught:
        sizing.refuse_bad_params(sized, stops)
    assert caught.value.reason.key == word


def test_a_gap_is_told_in_words_and_facts() -> None:
    no = nobody_can_serve(available(threads=0, gap=True, missing=("vision",), exceeded=("max_length",)))
    assert no.message == (
        "No online worker can serve this request: no online worker serving the model declares vision; "
        "the request exceeds the max_length limit of every online worker serving the model."
    )
    assert nobody_can_serve(available(threads=0)).facts == {}


def test_the_message_of_an_unserved_request_tells_when_it_expires_and_that_fewer_tokens_may_help() -> None:
    warning = unserved_warning(1200)
    assert "No online worker" in warning
    assert "expires in 20 minutes" in warning
    assert "fewer tokens" in warning


def test_a_rewrite_comes_back_into_strings_and_parts() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    assert screening.screened_texts(messages) == ["a", "b"]
    rewritten = screening.with_texts(messages, ["", "B"])
    assert rewritten[0]["content"] == ""
    assert rewritten[1]["content"][0]["text"] == "B"
    assert rewritten[1]["content"][1] == messages[1]["content"][1]
    with pytest.raises(ValueError, match="3 texts"):
        screening.with_texts(messages, ["1", "2", "3"])


def test_a_forwarded_text_that_is_no_address_is_kept_and_does_not_count_against_the_service() -> None:
    for told, text in (
        ("somebody@example.org", "somebody@example.org"),
        ("x" * 300, "x" * 255),
        (f"{LONGEST_ADDRESS}, 10.0.0.1", f"{LONGEST_ADDRESS}, 10.0.0.1"),
        ("2001:db8::/64", "2001:db8::/64"),
    ):
        caller = Caller(api_key="", remote_address="203.0.113.1", proxied_for=told)
        found = address.resolve(caller, proxy_owner="front#7")
        assert (found.text, found.proxied) == (text, True)
    blank = Caller(api_key="", remote_address="203.0.113.1", proxied_for="  ")
    assert address.resolve(blank, proxy_owner="front#7") == address.Address(
        "203.0.113.1", proxied=False, peer="203.0.113.1"
    )


def test_a_forwarded_address_is_spelt_as_the_edge_spells_peers() -> None:
    caller = Caller(api_key="", remote_address="203.0.113.1", proxied_for=" 2001:DB8::1 ")
    found = address.resolve(caller, proxy_owner="front#7")
    assert found == address.Address("2001:db8::1", proxied=True, peer="203.0.113.1", proxy_owner="front#7")
    assert address.resolve(caller, proxy_owner=None) == address.Address(
        "203.0.113.1", proxied=False, peer="203.0.113.1"
    )


def test_no_load_takes_the_floor() -> None:
    assert pricing.is_free(512, TERMS)
    assert not pricing.is_free(513, TERMS)
