"""The forms of measuring: steps are timed however they end, and strangers make no labels."""

import pytest
from prometheus_client import CollectorRegistry, Histogram

from horde.telemetry.metrics import Few, timed


async def test_a_step_is_timed_whether_it_returns_or_raises_and_stays_what_it_is() -> None:
    registry = CollectorRegistry()
    histogram = Histogram("step_seconds", "A step.", ("kind",), registry=registry)

    @timed(histogram.labels("text"))
    async def divide(number: int, *, by: int) -> float:
        """Says what it does."""
        return number / by

    assert await divide(6, by=3) == 2
    with pytest.raises(ZeroDivisionError):
        await divide(6, by=0)
    assert registry.get_sample_value("step_seconds_count", {"kind": "text"}) == 2
    assert (divide.__name__, divide.__doc__) == ("divide", "Says what it does.")


def test_the_first_values_of_a_label_keep_their_names_and_all_others_share_one() -> None:
    few = Few(2)
    assert [few(value) for value in ("a", "b", "a", "c", "d", "b")] == ["a", "b", "a", "other", "other", "b"]
