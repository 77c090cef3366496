import pytest

from services.dispatch.rules.bridge_agents import agent_name, is_validated
from services.dispatch.rules.matching import lease_capacity
from services.dispatch.rules.size_buckets import size_bucket


@pytest.mark.parametrize(("speed", "capacity"), [(None, 1200.0), (1.0, 120.0), (20.0, 2400.0)])
def test_the_capacity_is_what_fits_between_preparation_and_lease(speed: float | None, capacity: float) -> None:
    assert lease_capacity(speed, lease=150, preparation=30) == capacity


def test_a_lease_shorter_than_the_preparation_holds_nothing() -> None:
    assert lease_capacity(10.0, lease=10, preparation=30) == 0


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("KoboldCppEmbedWorker:2:https://there", "KoboldCppEmbedWorker"),
        ("AI Horde Worker~aphrodite~oai:1.2.3:x:y", "AI Horde Worker~aphrodite~oai"),
        ("TabbyAPI:1.2:url", "TabbyAPI"),
        ("TabbyAPI:new:url", "unknown"),
        ("TabbyAPI", "unknown"),
        ("unknown:0:unknown", "unknown"),
    ],
)
def test_the_name_of_a_backend_needs_a_version_beside_it(agent: str, name: str) -> None:
    assert agent_name(agent) == name
    assert is_validated(agent) is (name != "unknown")


@pytest.mark.parametrize(
    ("length", "bucket"),
    [
        (1, "<=512"),
        (512, "<=512"),
        (513, "513-1024"),
        (1024, "513-1024"),
        (2048, "1025-2048"),
        (4096, "2049-4096"),
        (4097, ">4096"),
    ],
)
def test_sizes_fall_in_the_buckets_of_the_reference(length: int, bucket: str) -> None:
    assert size_bucket(length) == bucket
