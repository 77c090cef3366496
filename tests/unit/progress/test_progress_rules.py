"""The pure rules of progress: what a lease says, what an entry means, what a cancel is settled on."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.settings import RedisSettings
from services.progress.live.keys import on_signal_database
from services.progress.rules import deltas, feed, leases
from services.progress.rules.deltas import Delta, Outcome, Verdict

GENERATION = "5f0c8a52-6a0b-4a1b-9d6e-111111111111"


def a_lease(**changed: object) -> leases.Lease:
    written: dict[str, object] = {
        "generation_id": GENERATION,
        "request_id": "r",
        "worker_id": "w",
        "model": "m",
        "owner_id": 1,
        "key": "k",
        "max_bytes": 8,
        "is_fake": False,
        "started": 1000.0,
        "job_ttl_seconds": 150,
        "lease_cap_seconds": 200,
        "is_trusted": False,
    }
    return leases.Lease(**{**written, **changed})  # type: ignore[arg-type]  # the dictionary mirrors the fields


def test_a_lease_stands_until_its_job_ends_and_the_grace_after_it() -> None:
    assert leases.life_milliseconds(a_lease(), now=1000.0, grace_seconds=90) == 240_000
    assert leases.life_milliseconds(a_lease(), now=1010.5, grace_seconds=90) == 229_500
    assert leases.life_milliseconds(a_lease(), now=9999.0, grace_seconds=90) == 1


def test_a_lease_without_a_model_has_no_such_field() -> None:
    assert "model" not in leases.fields(a_lease(model=""))


@given(st.floats(1e9, 3e9))
def test_the_moment_of_the_pop_is_kept_to_its_last_digit(started: float) -> None:
    assert float(leases.fields(a_lease(started=started))["started"]) == started


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.WRONG_KEY, reasons.WRONG_CREDENTIALS),
        (Outcome.OUT_OF_SEQUENCE, reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE),
        (Outcome.CAPPED, reasons.CHAT_PROGRESS_CAP_REACHED),
    ],
)
def test_every_bad_outcome_is_a_refusal(outcome: Outcome, reason: reasons.Reason) -> None:
    with pytest.raises(Refusal) as refused:
        deltas.require_accepted(Verdict(outcome, 3))
    assert refused.value.reason is reason


def test_the_good_outcomes_are_none() -> None:
    for outcome in (Outcome.APPENDED, Outcome.REPEATED):
        deltas.require_accepted(Verdict(outcome, 3))


def test_a_post_is_judged_under_the_plain_spelling_of_its_id() -> None:
    assert deltas.checked(Delta(GENERATION.upper(), 1, "a", "")).generation_id == GENERATION


def test_signals_say_nothing_of_faults_unless_there_is_something_to_say() -> None:
    assert json.loads(feed.write_signal("r", feed.Signal("done", 1))) == {"id": "r", "event": "done", "generations": 1}


@given(st.builds(feed.Signal, st.text(), st.integers(), st.none() | st.text(), st.none() | st.text()))
def test_a_signal_is_read_as_it_was_written(signal: feed.Signal) -> None:
    assert feed.read_signal(feed.write_signal("r", signal).encode()) == signal


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"7", b'{"event": "done"}', b"\xff"])
def test_what_is_no_signal_is_passed_over(body: bytes) -> None:
    assert feed.read_signal(body) is None


def pieces(*contents: str) -> list[feed.Piece | feed.Ended]:
    return [feed.Piece("g", seq, content, "why", "w", "m") for seq, content in enumerate(contents, 1)]


@pytest.mark.parametrize(
    ("accepted", "entries", "posted"),
    [
        ({"g": (2, 10)}, pieces("añ", "😀"), feed.Posted("g", 3, 10)),
        ({"g": (2, 10)}, [*pieces("añ", "😀"), feed.Ended("g")], feed.Posted("g", 3, 10)),
        ({"g": (3, 10)}, pieces("añ", "😀"), feed.Posted("g", None, 10)),
        ({"g": (0, 0)}, [], feed.Posted("g", 0, 0)),
        ({}, pieces("ab"), feed.Posted("g", 2, 0)),
        ({}, [], feed.Posted("g", None, 0)),
    ],
    ids=["whole", "ended", "trimmed", "silent", "lease gone", "nothing left"],
)
def test_what_was_posted_is_counted_only_when_the_stream_holds_all_of_it(
    accepted: dict[str, tuple[int, int]], entries: list[feed.Piece | feed.Ended], posted: feed.Posted
) -> None:
    assert feed.posted(["g"], accepted, entries) == [posted]


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("redis://:pw@h:1/0", "redis://:pw@h:1/7?db=7"),
        ("rediss://h", "rediss://h/7?db=7"),
        ("redis://h/0?db=3&protocol=3", "redis://h/7?db=7&protocol=3"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock?db=7"),
    ],
)
def test_leases_and_streams_stand_on_the_signal_database_wherever_redis_is(written: str, used: str) -> None:
    assert on_signal_database(RedisSettings(redis_url=written)).redis_url == used
