"""Addresses with higher limits, and passkeys that move a call to another address."""

import hashlib
from datetime import timedelta

import pytest

from horde.failures import Outage
from services.gateway import favours
from services.gateway.caller import Caller
from services.gateway.favours import Favours
from services.gateway.passkeys import ProxyPasskeys
from tests.fakes.clock import FakeClock


def test_an_address_is_favoured_for_a_day_from_the_last_time() -> None:
    clock = FakeClock()
    kept = Favours(clock)
    kept.add("a")
    clock.advance(timedelta(hours=23))
    assert kept.holds("a")
    assert not kept.holds("b")
    kept.add("a")
    clock.advance(timedelta(hours=23))
    assert kept.holds("a")
    clock.advance(timedelta(hours=1))
    assert not kept.holds("a")


def test_the_oldest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(favours, "_MOST", 2)
    kept = Favours(FakeClock())
    for address in ("a", "b", "a", "c"):
        kept.add(address)
    assert [kept.holds(address) for address in "abc"] == [True, False, True]


def calling(*, passkey: str, proxied_for: str = "198.51.100.7") -> Caller:
    """A caller that speaks for another address."""
    return Caller("k", "203.0.113.9", proxied_for, passkey, "agent")


async def test_passkeys_are_asked_for_only_by_calls_that_carry_one_and_every_five_seconds() -> None:
    clock, asked = FakeClock(), []
    known = {"open"}

    async def ask() -> list[bytes]:
        asked.append(1)
        return [hashlib.sha256(one.encode()).digest() for one in known]

    passkeys = ProxyPasskeys(ask, clock)
    assert await passkeys.address_of(calling(passkey="")) == "203.0.113.9"
    assert await passkeys.address_of(calling(passkey="open", proxied_for="")) == "203.0.113.9"
    assert await passkeys.address_of(calling(passkey="open", proxied_for="nowhere")) == "203.0.113.9"
    assert asked == []
    assert await passkeys.address_of(calling(passkey="open")) == "198.51.100.7"
    assert await passkeys.address_of(calling(passkey="shut")) == "203.0.113.9"
    known.clear()
    assert await passkeys.address_of(calling(passkey="open", proxied_for="::ffff:198.51.100.7")) == "198.51.100.7"
    assert len(asked) == 1
    clock.advance(timedelta(seconds=5))
    assert await passkeys.address_of(calling(passkey="open")) == "203.0.113.9"


async def test_what_was_known_outlives_an_outage() -> None:
    clock, asked = FakeClock(), []

    async def ask() -> list[bytes]:
        asked.append(1)
        if len(asked) > 1:
            raise Outage("admission", "away")
        return [hashlib.sha256(b"open").digest()]

    passkeys = ProxyPasskeys(ask, clock)
    for _ in range(2):
        assert await passkeys.address_of(calling(passkey="open")) == "198.51.100.7"
        assert await passkeys.address_of(calling(passkey="open")) == "198.51.100.7"
        clock.advance(timedelta(seconds=5))
    assert len(asked) == 2
