"""Which text of a running reply goes out."""

from typing import Any

import pytest

from services.gateway.openai.reconcile import Diverged, Relay, Said
from services.gateway.openai.reply import Ended, Piece, Reply


def piece(seq: int, content: str, reasoning: str = "", generation: str = "g1", model: str = "m") -> Piece:
    return Piece(generation, seq, content, reasoning, "w", model)


def reply(content: str | None, generation: str = "g1", **more: Any) -> Reply:
    known: dict[str, Any] = {
        "generation_id": generation,
        "worker_id": "w",
        "worker_name": "w",
        "model": "m",
        "content": content,
        "reasoning": None,
        "tool_calls": (),
        "finish_reason": "stop",
        "native_finish_reason": None,
        "prompt_tokens": None,
        "completion_tokens": None,
        "reasoning_tokens": None,
        "charge_basis": None,
        "queue_wait_seconds": 0.0,
    }
    return Reply(**{**known, **more})


def relay(**more: Any) -> Relay:
    return Relay(**{"buffered": False, "include_reasoning": True, **more})


def test_pieces_in_order_are_relayed_and_the_rest_comes_at_the_end() -> None:
    it = relay()
    assert it.take([piece(1, "a", "r"), piece(2, "b")]) == Said("r", "ab")
    assert it.take([piece(3, "c")]) == Said("", "c")
    assert it.finish(reply("abcd", reasoning="rs")) == Said("s", "d")


def test_a_repeated_piece_is_not_relayed_again() -> None:
    it = relay()
    it.take([piece(1, "a"), piece(2, "b")])
    assert it.take([piece(1, "a"), piece(2, "b"), piece(3, "c")]) == Said("", "c")


def test_a_gap_stops_relaying_until_the_reply_is_stored() -> None:
    it = relay()
    it.take([piece(1, "a")])
    assert it.take([piece(3, "c"), piece(4, "d")]) == Said("", "")
    assert it.finish(reply("abcd")) == Said("", "bcd")


def test_another_generation_is_never_mixed_in() -> None:
    it = relay()
    it.take([piece(1, "a")])
    assert it.take([piece(1, "x", generation="g2")]) == Said("", "")


def test_a_late_reader_skips_generations_that_are_known_to_be_over() -> None:
    it = relay()
    events: list[Piece | Ended] = [piece(1, "old"), Ended("g1"), piece(1, "new", generation="g2")]
    assert it.take(events) == Said("", "new")


def test_a_second_reply_has_to_continue_what_was_sent() -> None:
    it = relay()
    it.take([piece(1, "Same")])
    it.take([Ended("g1"), piece(1, "Other", generation="g2")])
    assert it.finish(reply("Same words", "g2")) == Said("", " words")
    assert it.is_continued_by(reply("Same words", "g2"))
    with pytest.raises(Diverged):
        it.finish(reply("Different", "g2"))


def test_reasoning_is_compared_by_itself() -> None:
    it = relay()
    it.take([piece(1, "a", "thought")])
    with pytest.raises(Diverged):
        it.finish(reply("a", reasoning="other"))


def test_hidden_reasoning_is_neither_sent_nor_compared() -> None:
    it = relay(include_reasoning=False)
    assert it.take([piece(1, "", "thought")]) == Said("", "")
    assert it.first is None
    assert it.finish(reply("a", reasoning="other")) == Said("", "a")


def test_nothing_goes_out_of_a_buffered_stream() -> None:
    it = relay(buffered=True)
    assert it.take([piece(1, "a")]) == Said("", "")
    assert it.finish(reply("b")) == Said("", "b")


def test_a_lease_without_a_model_waits_for_the_reply() -> None:
    it = relay()
    assert it.take([piece(1, "a", model="")]) == Said("", "")
    assert it.finish(reply("ab")) == Said("", "ab")


def test_nul_is_sent_as_it_is_stored() -> None:
    it = relay()
    assert it.take([piece(1, "a\0b")]) == Said("", "a\ufffdb")
    assert it.finish(reply("a\ufffdb")) == Said("", "")
