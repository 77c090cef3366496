"""The register of Redis keys."""

from datetime import timedelta

import pytest

from horde.live import Key


def a_key(pattern: str, owner: str = "progress") -> Key:
    return Key(pattern, kind="string", ttl=timedelta(seconds=5), owner=owner, if_lost="nothing")


def test_a_key_is_named_by_its_ids_and_is_in_the_register() -> None:
    key = a_key("horde:test:named:{job_id}:{part}")
    assert key(job_id="7", part=1) == "horde:test:named:7:1"
    assert key in Key.all()


def test_missing_and_unknown_ids_are_refused() -> None:
    key = a_key("horde:test:strict:{job_id}")
    with pytest.raises(KeyError):
        key()
    with pytest.raises(KeyError):
        key(job="7")
    with pytest.raises(TypeError, match="has no part"):
        key(job_id="7", part=1)


def test_two_owners_cannot_declare_one_key() -> None:
    a_key("horde:test:owned")
    with pytest.raises(ValueError, match="declared twice"):
        a_key("horde:test:owned", owner="dispatch")


def test_a_key_says_what_is_lost_with_it() -> None:
    with pytest.raises(ValueError, match="what is lost"):
        Key("horde:test:silent", kind="hash", ttl=None, owner="progress", if_lost=" ")
