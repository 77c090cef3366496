"""Holds, shared keys and downgrades of text submissions, and who may read one back."""

from typing import Any
from uuid import uuid4

import pytest

from horde.contract.refusal import Refusal
from tests.fakes.admission_world import AdmissionWorld, chat, text


async def refused(world: AdmissionWorld, body: Any, key: str) -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit_text(body, key=key)
    return caught.value


async def unread(world: AdmissionWorld, request_id: str, key: str) -> str:
    """Why a submission is not read back."""
    with pytest.raises(Refusal) as caught:
        await world.read_back(request_id, key)
    return caught.value.reason.key


async def holds(world: AdmissionWorld) -> list[int]:
    """What is held, in hundredths."""
    rows = await world.sql.fetch("SELECT remaining_amount FROM admission.kudos_reservations WHERE released_at IS NULL")
    return [row["remaining_amount"] for row in rows]


async def load_the_queue(world: AdmissionWorld) -> None:
    """Enough waiting tokens for one slow worker that only the floor is free."""
    await world.worker(speed=10.0, max_length=1200)
    other = await world.account("other", kudos=1_000_000, concurrency=500)
    await world.admit_text(text(params={"n": 10, "max_length": 512}), key=other.api_key)


async def test_under_load_more_than_the_floor_is_held_for_every_generation(world: AdmissionWorld) -> None:
    await load_the_queue(world)
    client = await world.account(kudos=10_000)
    await world.admit_text(text(params={"n": 2, "max_length": 1200}), key=client.api_key)
    assert await holds(world) == [2 * round(1200 * 13 / 21 * 100)]


async def test_any_model_holds_twenty_kudos_for_a_generation(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000)
    answer = await world.admit_text(text(models=[], slow_workers=False), key=client.api_key)
    assert await holds(world) == [2000]
    assert (await world.row(answer.request_id))["min_speed"] == 3


async def test_who_cannot_pay_is_refused_or_lowered_to_what_is_free(world: AdmissionWorld) -> None:
    await load_the_queue(world)
    client = await world.account(kudos=100)
    body = text(params={"max_length": 1200, "top_k": 1}, slow_workers=False)
    no = await refused(world, body, client.api_key)
    assert (no.reason.key, "512 tokens" in no.message) == ("KudosUpfront", True)
    row = await world.row((await world.admit_text({**body, "allow_downgrade": True}, key=client.api_key)).request_id)
    assert (row["max_length"], row["things"], row["slow_workers"], row["min_speed"]) == (512, 512, True, 0)
    assert '"max_length": 512' in row["params"]
    assert await holds(world) == []


async def test_a_downgrade_whose_kudos_went_elsewhere_is_lowered_at_the_last_step(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=600)
    body = text(params={"max_length": 500}, slow_workers=False, allow_downgrade=True)
    rows = [await world.row((await world.admit_text(body, key=client.api_key)).request_id) for _ in range(3)]
    assert [row["slow_workers"] for row in rows] == [False, True, True]


async def test_named_workers_are_not_downgraded_where_they_always_hold(world: AdmissionWorld) -> None:
    worker = str(await world.worker())
    object.__setattr__(world.deps.settings, "upfront_kudos_on_workerlist", True)
    client = await world.account()
    no = await refused(world, text(workers=[worker], allow_downgrade=True), client.api_key)
    assert no.reason.key == "KudosUpfront"


async def test_without_a_worker_kudos_would_not_help(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account()
    no = await refused(world, text(params={"max_length": 4096, "max_context_length": 8192}), client.api_key)
    assert no.reason.key == "NoEligibleWorker"
    assert no.facts["impossible_reason"] == {
        "kind": "declaration_gap",
        "missing_declarations": [],
        "exceeded_limits": ["max_length"],
    }


async def test_an_empty_shared_key_falls_back_to_anonymous_behind_everybody(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    key = await world.lend(owner.id, kudos=0)
    assert (await refused(world, text(), key)).reason.key == "SharedKeyEmpty"
    row = await world.row((await world.admit_text(text(allow_downgrade=True), key=key)).request_id)
    assert (row["user_id"], row["sharedkey_id"], row["extra_priority"]) == (0, None, -50)


async def test_a_spent_shared_key_is_refused_or_waits_behind_everybody(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    key = await world.lend(owner.id, kudos=10)
    assert (await refused(world, text(), key)).reason.key == "SharedKeyInsufficientKudos"
    row = await world.row((await world.admit_text(text(allow_downgrade=True), key=key)).request_id)
    assert (row["user_id"], str(row["sharedkey_id"]), row["extra_priority"]) == (owner.id, key, -50)


async def test_a_shared_keys_own_limit_holds_for_text(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("lender", kudos=1000)
    key = await world.lend(owner.id, kudos=-100, max_text_tokens=79)
    assert (await refused(world, text(), key)).reason.key == "BadRequest"


async def test_a_submission_is_read_back_by_its_key_and_by_that_keys_owner(world: AdmissionWorld) -> None:
    await world.worker()
    owner, stranger = await world.account("lender", kudos=1000), await world.account("stranger")
    shared, other = await world.lend(owner.id, kudos=-100), await world.lend(owner.id, kudos=-100)
    by_key = (await world.admit_text(text(params={"n": 2, "top_k": 3}, webhook="https://x/"), key=shared)).request_id
    by_owner = (await world.admit_text(text(), key=owner.api_key)).request_id
    expected = {
        "prompt": "Once upon a time",
        "params": {"n": 2, "top_k": 3, "max_length": 80, "max_context_length": 2048},
        "models": text()["models"],
        "workers": [],
        "worker_blacklist": False,
        "trusted_workers": False,
        "validated_backends": False,
        "slow_workers": True,
        "webhook": "https://x/",
    }
    assert await world.read_back(by_key, shared) == await world.read_back(by_key, owner.api_key) == expected
    assert (await world.read_back(by_owner, owner.api_key))["params"]["n"] == 1
    assert await unread(world, by_owner, shared) == "NotRequestOwner"
    assert await unread(world, by_key, other) == "NotRequestOwner"
    assert await unread(world, by_key, stranger.api_key) == "NotRequestOwner"


async def test_nobody_reads_back_as_anonymous_and_no_chat_request_is_found(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000)
    anonymous = (await world.admit_text(text())).request_id
    chatted = (await world.admit(chat(), key=client.api_key)).request_id
    assert await unread(world, anonymous, "0000000000") == "AnonForbidden"
    assert await unread(world, anonymous, "x" * 22) == "InvalidAPIKey"
    for missing in (chatted, str(uuid4()), "no uuid"):
        assert await unread(world, missing, client.api_key) == "RequestNotFound"


async def test_an_account_that_never_had_kudos_submits_what_is_free(world: AdmissionWorld) -> None:
    await world.worker()
    poor = await world.account("newcomer")
    assert (await world.admit_text(text(), key=poor.api_key)).request_id
    assert (await world.admit(chat(), key=poor.api_key)).request_id
