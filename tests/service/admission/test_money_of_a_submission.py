"""Holds, shared keys, allowances: what a submission takes, and when it is refused for kudos."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from horde.contract.refusal import Refusal
from tests.fakes.admission_world import AdmissionWorld, chat


async def refused(world: AdmissionWorld, body: Any, key: str) -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit(body, key=key)
    return caught.value


async def holds(world: AdmissionWorld) -> list[int]:
    """What is held, in hundredths."""
    rows = await world.sql.fetch("SELECT remaining_amount FROM admission.kudos_reservations WHERE released_at IS NULL")
    return [row["remaining_amount"] for row in rows]


async def load_the_queue(world: AdmissionWorld, requests: int) -> None:
    """Several requests of 512 tokens that wait for the only worker."""
    other = await world.account("other", kudos=1_000_000, concurrency=500)
    for _ in range(requests):
        await world.admit(chat(), key=other.api_key)


async def test_an_idle_fleet_serves_the_ceiling_free(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account()
    await world.admit(chat(max_tokens=4096), key=client.api_key)
    assert await holds(world) == []


async def test_under_load_more_than_the_floor_is_held(world: AdmissionWorld) -> None:
    await world.worker(speed=10.0, chat_max_length=1200)
    await load_the_queue(world, 6)
    client = await world.account(kudos=10_000)
    await world.admit(chat(max_tokens=1200), key=client.api_key)
    assert await holds(world) == [round(1200 * 13 / 21 * 100)]


async def test_without_the_kudos_it_is_refused_and_the_allowance_is_stated(world: AdmissionWorld) -> None:
    await world.worker(speed=10.0, chat_max_length=1200)
    await load_the_queue(world, 6)
    client = await world.account(kudos=100)
    no = await refused(world, chat(max_tokens=1200), client.api_key)
    assert no.reason.key == "KudosUpfront"
    assert "512 tokens" in no.message
    assert await holds(world) == []


async def test_slow_workers_false_always_holds(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=10_000)
    answer = await world.admit(chat(horde={"slow_workers": False}), key=client.api_key)
    assert await holds(world) == [31695]
    assert (await world.row(answer.request_id))["min_speed"] == 4


async def test_two_holds_cannot_spend_the_same_kudos(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=400)
    body = chat(horde={"slow_workers": False})
    await world.admit(body, key=client.api_key)
    assert (await refused(world, body, client.api_key)).reason.key == "KudosUpfront"


async def test_a_poor_client_of_a_gap_learns_the_gap(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account()
    no = await refused(world, chat(seed=1, max_tokens=4096), client.api_key)
    assert no.reason.key == "NoEligibleWorker"
    assert no.message == "No online worker can serve this request: no online worker serving the model declares seed."
    assert no.facts["impossible_reason"] == {
        "kind": "declaration_gap",
        "missing_declarations": ["seed"],
        "exceeded_limits": [],
    }


async def test_a_rich_client_of_a_gap_is_queued(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=100_000)
    assert (await world.admit(chat(seed=1, max_tokens=4096), key=client.api_key)).message


async def test_the_anonymous_account_may_hold_down_to_its_floor(world: AdmissionWorld) -> None:
    await world.worker()
    body = chat(max_tokens=80, horde={"slow_workers": False})
    await world.admit(body)
    assert (await refused(world, body, "0000000000")).reason.key == "KudosUpfront"


async def lend(world: AdmissionWorld, owner: int, **columns: Any) -> str:
    """A shared key of this owner."""
    row = {"id": uuid4(), "user_id": owner, **columns}
    places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    await world.sql.execute(
        f"INSERT INTO admission.user_sharedkeys ({', '.join(row)}) VALUES ({places})",  # noqa: S608 - own names
        *row.values(),
    )
    return str(row["id"])


async def test_a_shared_key_runs_as_its_owner(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    key = await lend(world, owner.id, kudos=50_000)
    row = await world.row((await world.admit(chat(), key=key)).request_id)
    assert row["user_id"] == owner.id
    assert row["sharedkey_id"] == UUID(key)
    left = await world.sql.fetchrow("SELECT kudos, utilized FROM admission.user_sharedkeys WHERE id = $1", UUID(key))
    assert left is not None
    assert (left["kudos"], left["utilized"]) == (49_900, 100)


async def test_a_shared_key_is_refused_when_empty_expired_or_too_small(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    past = world.clock.now().replace(year=2020)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"kudos": 0}, "SharedKeyEmpty"),
        ({"expiry": past}, "SharedKeyExpired"),
        ({"kudos": 10}, "SharedKeyInsufficientKudos"),
        ({"kudos": -100, "max_text_tokens": 100}, "BadRequest"),
    ]
    for columns, word in cases:
        assert (await refused(world, chat(), await lend(world, owner.id, **columns))).reason.key == word


async def test_a_deleted_account_is_refused(world: AdmissionWorld) -> None:
    client = await world.account()
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, 9)", client.id)
    assert (await refused(world, chat(), client.api_key)).reason.key == "DeletedUser"
