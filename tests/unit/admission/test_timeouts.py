"""What an address in timeout is told: how long, unless it is very long (base-domain 1.10)."""

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission.rules.entry import refuse_in_timeout

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
