"""A place far back in the queue, by ranks of the head."""

import pytest

from services.dispatch.rules.status import EXACT_BOUND, HEAD_STEP, QUEUE_BOUND, far_ahead

_HEAD = [-float(place) for place in range(HEAD_STEP, QUEUE_BOUND + 1, HEAD_STEP)]
"""A full head: the request at place p has rank -p."""


@pytest.mark.parametrize("place", [EXACT_BOUND + 1, 777, 5_000, 9_999])
def test_a_place_behind_the_exact_ones_is_right_to_one_step(place: int) -> None:
    assert 0 <= (place - 1) - far_ahead(-float(place), _HEAD) < HEAD_STEP


@pytest.mark.parametrize("place", [QUEUE_BOUND + 1, 1_000_000])
def test_a_place_behind_the_bound_is_told_as_the_bound(place: int) -> None:
    assert far_ahead(-float(place), _HEAD) == QUEUE_BOUND


def test_a_head_read_when_the_queue_was_shorter_tells_no_fewer_than_were_counted() -> None:
    assert far_ahead(-500.0, []) == EXACT_BOUND
