"""What an address in timeout is told, how long, unless it is very long (base-domain 1.10); and from when on."""

from datetime import timedelta
from typing import Any, cast

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission.rules.entry import refuse_in_timeout
from services.admission.snapshots import Standings
from tests.fakes.clock import FakeClock

_FOUR_DAYS = 4 * 24 * 3600


def test_an_address_that_is_in_no_timeout_is_let_in() -> None:
    refuse_in_timeout(0)


@pytest.mark.parametrize("seconds", [1, 180, _FOUR_DAYS])
def test_a_timeout_is_told_in_seconds(seconds: int) -> None:
    with pytest.raises(Refusal) as no:
        refuse_in_timeout(seconds)
    assert (no.value.reason, no.value.retry_after) == (reasons.TIMEOUT_IP, seconds)
    assert f" {seconds} " in no.value.message


def test_a_timeout_of_more_than_four_days_is_not_told_in_seconds() -> None:
    with pytest.raises(Refusal) as no:
        refuse_in_timeout(_FOUR_DAYS + 1)
    assert (no.value.reason, no.value.retry_after) == (reasons.TIMEOUT_IP, None)
    assert str(_FOUR_DAYS + 1) not in no.value.message


class Moderation:
    """Knows one address."""

    def __init__(self) -> None:
        self.seconds = 0
        self.asked = 0

    async def timeout_seconds(self, address: str) -> int:
        self.asked += 1
        return self.seconds if address == "203.0.113.1" else 0


async def test_an_address_that_is_put_out_is_refused_from_its_next_submission_on() -> None:
    moderation, clock = Moderation(), FakeClock()
    standings = Standings(cast("Any", moderation), clock)
    assert await standings.timeout_seconds("203.0.113.1") == 0
    moderation.seconds = 180
    assert await standings.timeout_seconds("203.0.113.1") == 180
    moderation.seconds = 0
    assert await standings.timeout_seconds("203.0.113.1") == 0


async def test_a_busy_address_is_asked_about_ten_times_a_second_and_after_each_refused_prompt() -> None:
    moderation, clock = Moderation(), FakeClock()
    standings = Standings(cast("Any", moderation), clock)
    for _ in range(100):
        assert await standings.timeout_seconds("203.0.113.1") == 0
    assert moderation.asked == 10
    moderation.seconds = 180
    assert await standings.timeout_seconds("203.0.113.1") == 0
    standings.forget("203.0.113.1")
    assert await standings.timeout_seconds("203.0.113.1") == 180
    moderation.seconds = 0
    clock.advance(timedelta(seconds=1))
    assert await standings.timeout_seconds("203.0.113.1") == 0
