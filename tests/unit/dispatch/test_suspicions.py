import pytest

from services.dispatch.rules.suspicions import Suspicion, by_name, by_speed


@pytest.mark.parametrize(
    ("speed", "billions", "trusted", "model", "found"),
    [
        (150.0, 8, False, "m", 0),
        (150.1, None, False, "m", 1),
        (150.1, None, True, "m", 1),
        (150.1, 7, False, "m", 2),
        (150.1, 8, True, "m", 1),
        (100.0, 14, False, "m", 0),
        (100.1, 14, False, "m", 1),
        (100.1, 14, True, "m", 0),
        (100.1, 13.9, False, "m", 0),
        (30.0, 70, False, "m", 0),
        (30.1, 70, False, "m", 1),
        (30.1, 69.9, False, "m", 0),
        (90.0, 70, False, "Mixtral-8x22B", 0),
        (90.1, 70, False, "Mixtral-8x22B", 1),
        (300.1, 47, False, "Mixtral-8x7B", 2),
        (30.1, None, False, "m", 0),
    ],
)
def test_a_speed_is_suspicious_for_any_worker_and_sooner_for_an_untrusted_one_with_a_big_model(
    speed: float, billions: float | None, trusted: bool, model: str, found: int
) -> None:
    reasons = by_speed(speed, model, billions=billions, owner_trusted=trusted)
    assert [reason.suspicion for reason in reasons] == [Suspicion.UNREASONABLY_FAST] * found
    assert all(f"{speed:.1f}" in reason.detail and model in reason.detail for reason in reasons)


def test_a_name_is_suspicious_beyond_100_characters_and_again_beyond_200() -> None:
    found = [[reason.suspicion.value for reason in by_name("n" * length)] for length in (100, 101, 200, 201)]
    assert found == [[], [0], [0], [0, 1]]
