"""Every submission leaves its times in base-domain 12's histograms; holds and gifts are counted."""

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import accounts_service_pb2 as accounts_pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, chat, text

STEPS = (
    "generate_duration_seconds",
    "generate_validate_duration_seconds",
    "generate_validate_find_user_duration_seconds",
    "generate_validate_prompt_filter_duration_seconds",
    "generate_activate_wp_duration_seconds",
)


def counting(name: str, **labels: str) -> Callable[[], float]:
    """What an instrument has counted since now."""

    def read() -> float:
        return REGISTRY.get_sample_value(f"horde_{name}", labels) or 0.0

    before = read()
    return lambda: read() - before


@pytest.mark.parametrize("kind", ["chat", "text"])
async def test_a_submission_is_timed_with_its_steps(world: AdmissionWorld, kind: str) -> None:
    await world.worker()
    admit: Any = world.admit if kind == "chat" else world.admit_text
    steps = [counting(f"{step}_count", gentype="text") for step in STEPS]
    queued = [
        counting("wp_activate_duration_seconds_count", wp_type="text"),
        counting("wp_activation_age_seconds_count", wp_type="text"),
    ]
    await admit(chat() if kind == "chat" else text(models=[MODEL]))
    assert [counted() for counted in steps] == [1, 1, 1, 1, 1]
    assert [counted() for counted in queued] == [1, 1]
    await admit(chat(horde={"dry_run": True}) if kind == "chat" else text(models=[MODEL], dry_run=True))
    assert [counted() for counted in steps] == [2, 2, 2, 2, 1]
    with pytest.raises(Refusal):
        await admit(chat() if kind == "chat" else text(models=[MODEL]), key="nobody's key")
    assert [counted() for counted in steps] == [3, 3, 3, 2, 1]
    assert [counted() for counted in queued] == [1, 1]


async def test_asking_for_an_address_is_timed_by_whether_it_was_remembered(world: AdmissionWorld) -> None:
    await world.worker()
    asked, remembered = (
        counting("countermeasures_ip_check_duration_seconds_count", cached=cached) for cached in ("false", "true")
    )
    for _ in range(12):
        await world.admit(chat())
    assert (asked(), remembered()) == (10, 2)


@pytest.mark.parametrize("kind", ["chat", "text"])
async def test_a_hold_that_is_not_covered_is_counted_and_a_quote_is_not(world: AdmissionWorld, kind: str) -> None:
    await world.worker()
    poor = await world.account("poor")
    rejected = counting("kudos_reservations_rejected_total")
    if kind == "chat":
        bodies = [chat(horde={"slow_workers": False, **more}) for more in ({"dry_run": True}, {})]
        admit: Any = world.admit
    else:
        bodies = [{**text(models=[MODEL], slow_workers=False), **more} for more in ({"dry_run": True}, {})]
        admit = world.admit_text
    for body, wanted in zip(bodies, (0, 1), strict=True):
        with pytest.raises(Refusal) as refused:
            await admit(body, key=poor.api_key)
        assert refused.value.reason.word == "KudosUpfront"
        assert rejected() == wanted


async def test_a_repeated_gift_is_counted_apart(world: AdmissionWorld) -> None:
    giver, friend = await world.account("giver", kudos=1000), await world.account("friend")
    transfers, replays = (
        counting("admission_kudos_transfers_total"),
        counting("kudos_transfers_idempotent_replays_total"),
    )
    for _ in range(2):
        await world.call(
            "TransferKudos",
            accounts_pb.TransferKudosRequest(
                api_key=giver.api_key, target=friend.username, amount_hundredths=100, retry_key="once"
            ),
        )
    assert (transfers(), replays()) == (1, 1)
