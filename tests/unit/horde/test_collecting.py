"""What a process keeps for good is left out of garbage collection; what calls leave behind is not."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from horde import collecting


@pytest.fixture
def settled() -> Iterator[None]:
    thresholds = gc.get_threshold()
    collecting.settle()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


class Knot:
    """An object that only garbage collection can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.usefixtures("settled")
def test_what_the_start_made_is_looked_through_no_more() -> None:
    assert gc.get_freeze_count() > 10_000
    assert len(gc.get_objects()) < gc.get_freeze_count()


@pytest.mark.usefixtures("settled")
def test_knots_that_calls_leave_are_freed_by_and_by() -> None:
    first = weakref.ref(Knot())
    kept = [Knot() for _ in range(2 * gc.get_threshold()[0])]
    assert first() is None
    assert kept
