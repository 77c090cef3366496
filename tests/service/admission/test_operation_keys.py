"""An operation key names one submission of one account, whatever happens around it."""

import asyncio
from uuid import uuid4

import pytest

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import AdmissionWorld, admission_world, chat
from tests.servers import Database


async def test_a_repeat_is_answered_after_the_workers_went_and_with_admission_off(database: Database) -> None:
    body = chat(horde={"operation_key": str(uuid4())})
    async with admission_world(database) as world:
        worker = await world.worker()
        client = await world.account(kudos=1000)
        first = await world.admit(body, key=client.api_key)
        await world.sql.execute("DELETE FROM dispatch.workers WHERE id = $1", worker)
    async with admission_world(database, chat_admission_enabled=False) as closed:
        again = await closed.admit(body, key=client.api_key)
        assert again.outcome == pb.ADMIT_OUTCOME_REPEATED
        assert (again.request_id, again.kudos) == (first.request_id, first.kudos)
        with pytest.raises(Refusal) as caught:
            await closed.admit(chat(), key=client.api_key)
        assert caught.value.reason.key == "ChatAdmissionDisabled"
        assert await closed.count("dispatch.waiting_prompts") == 1


async def test_a_different_request_under_the_same_key_conflicts(world: AdmissionWorld) -> None:
    await world.worker()
    key = {"operation_key": str(uuid4())}
    await world.admit(chat(horde=key))
    with pytest.raises(Refusal) as caught:
        await world.admit(chat("other", horde=key))
    assert caught.value.reason.key == "OperationKeyConflict"


async def test_the_same_key_of_another_account_is_another_claim(world: AdmissionWorld) -> None:
    await world.worker()
    body = chat(horde={"operation_key": str(uuid4())})
    first = await world.admit(body)
    second = await world.admit(body, key=(await world.account(kudos=100)).api_key)
    assert first.request_id != second.request_id


async def test_concurrent_submissions_of_one_operation_make_one_request(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000)
    body = chat(horde={"operation_key": str(uuid4()), "slow_workers": False})
    answers = await asyncio.gather(*(world.admit(body, key=client.api_key) for _ in range(8)))
    assert len({answer.request_id for answer in answers}) == 1
    assert sum(answer.outcome == pb.ADMIT_OUTCOME_QUEUED for answer in answers) == 1
    assert await world.count("dispatch.waiting_prompts") == 1
    assert await world.count("admission.kudos_reservations") == 1
    assert await world.count("admission.kudos_ledger WHERE entry_type = 'ACTIVATION_TAX'") == 2


async def test_a_dry_run_neither_looks_up_nor_claims(world: AdmissionWorld) -> None:
    await world.worker()
    key = {"operation_key": str(uuid4())}
    assert (await world.admit(chat(horde={**key, "dry_run": True}))).outcome == pb.ADMIT_OUTCOME_QUOTED
    assert await world.count("admission.operation_claims") == 0
    await world.admit(chat("another", horde=key))
    assert (await world.admit(chat(horde={**key, "dry_run": True}))).outcome == pb.ADMIT_OUTCOME_QUOTED
