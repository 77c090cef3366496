"""Workers as their owners and clients see and change them."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import worker_routes_pb2, workers_pb2
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from tests.fakes.dispatch_pops import Pops, chat_declaration
from tests.fakes.dispatch_world import MODEL, Account

_DEADLINE = timedelta(seconds=10)


async def _list(pops: Pops, key: str = "", name: str | None = None) -> list[workers_pb2.WorkerDetails]:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).ListWorkers, deadline=_DEADLINE)
    return list((await call(worker_routes_pb2.ListWorkersRequest(caller=Caller(api_key=key), name=name))).workers)


async def _get(pops: Pops, key: str = "", **which: str) -> workers_pb2.WorkerDetails:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).GetWorker, deadline=_DEADLINE)
    return (await call(worker_routes_pb2.GetWorkerRequest(caller=Caller(api_key=key), **which))).worker


async def _update(pops: Pops, owner: Account, worker: object, **changes: Any) -> worker_routes_pb2.UpdateWorkerResponse:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).UpdateWorker, deadline=_DEADLINE)
    ask = worker_routes_pb2.UpdateWorkerRequest(caller=Caller(api_key=owner.api_key), worker_id=str(worker), **changes)
    return await call(ask)


async def _delete(pops: Pops, owner: Account, worker: object) -> worker_routes_pb2.DeleteWorkerResponse:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).DeleteWorker, deadline=_DEADLINE)
    return await call(
        worker_routes_pb2.DeleteWorkerRequest(caller=Caller(api_key=owner.api_key), worker_id=str(worker))
    )


async def _id(pops: Pops, name: str = "worker") -> uuid.UUID:
    found: uuid.UUID = (await pops.world.worker(name))["id"]
    return found


async def test_a_worker_is_told_as_its_last_pop_declared_it(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    chat = chat_declaration(chat_features=["tools", "seed", "a feature of tomorrow"])
    await pops.pop(owner, threads=3, chat=chat)
    await pops.world.change_worker("worker", kudos=1250, fulfilments=7, nonconformant_replies=2, speed=12.5, info="hi")
    worker = await _id(pops)
    await pops.world.run(
        "INSERT INTO dispatch.worker_stats VALUES ($1, 'generated', 1000), ($1, 'uptime', 250)", worker
    )

    told = await _get(pops, id=str(worker))

    assert (told.name, told.online, told.threads, told.info, list(told.models)) == ("worker", True, 3, "hi", [MODEL])
    assert (told.kudos_hundredths, told.generated_hundredths, told.uptime_hundredths) == (1250, 1000, 250)
    assert (told.requests_fulfilled, told.nonconformant_replies, told.speed, told.trusted) == (7, 2, 12.5, True)
    assert (told.chat.model_id, list(told.chat.chat_features)) == (MODEL, ["seed", "tools"])
    assert (told.chat.chat_limits.max_context_length, told.prompt_jobs) == (4096, True)
    assert not told.HasField("owner")
    assert not told.HasField("file")


async def test_a_plain_worker_without_replies_has_neither_chat_nor_speed(pops: Pops) -> None:
    await pops.pop(await pops.world.account(), chat=None)
    told = await _get(pops, name="worker")
    assert not told.HasField("chat")
    assert not told.HasField("speed")
    assert told.prompt_jobs


async def test_only_moderators_see_what_is_private_and_others_the_owner_when_it_is_public(pops: Pops) -> None:
    owner, moderator = await pops.world.account(), await pops.world.account("mod", 0)
    await pops.pop(owner)
    await pops.world.run("UPDATE admission.users SET contact = 'me@example.com' WHERE id = $1", owner.id)
    worker = str(await _id(pops))

    assert not (await _get(pops, owner.api_key, id=worker)).HasField("file")
    seen = (await _list(pops, moderator.api_key))[0]
    assert (seen.owner, seen.file.address) == (owner.alias, "203.0.113.7")
    assert seen.file.suspicions == 0
    with pytest.raises(Refusal) as refused:
        await _get(pops, "nobody's key", id=worker)
    assert refused.value.reason.word == "InvalidAPIKey"

    await pops.world.run("UPDATE admission.users SET public_workers = true WHERE id = $1", owner.id)
    await pops.pop(owner, "second")
    shown = await _get(pops, name="second")
    assert shown.owner == owner.alias
    assert not shown.HasField("file")


async def test_the_list_has_online_workers_and_one_worker_may_be_away(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner, "Here")
    await pops.pop(owner, "away")
    await pops.world.run("UPDATE dispatch.workers SET last_check_in = now() - interval '1 hour' WHERE name = 'away'")

    assert [worker.name for worker in await _list(pops)] == ["Here"]
    assert [worker.name for worker in await _list(pops, name="hERE")] == ["Here"]
    assert await _list(pops, name="away") == []
    assert not (await _get(pops, name="away")).online
    for which in ({"id": "no uuid"}, {"id": str(uuid.uuid4())}, {"name": "none"}, {"name": "n\0l"}):
        with pytest.raises(Refusal) as refused:
            await _get(pops, **which)
        assert refused.value.reason.word == "WorkerNotFound"


async def test_an_owner_changes_its_worker_and_sees_it_at_once(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    worker = await _id(pops)
    await _get(pops, id=str(worker))

    done = await _update(
        pops, owner, worker, maintenance=True, maintenance_msg="back at <5>", info="a b", name="new name"
    )

    assert (done.maintenance, done.info, done.name, done.HasField("paused")) == (True, "a b", "new name", False)
    told = await _get(pops, id=str(worker))
    assert (told.maintenance, told.info, told.name) == (True, "a b", "new name")
    assert (await pops.refused(owner, "new name")).message == "back at &lt;5&gt;"
    assert (await _update(pops, owner, worker, maintenance=False)).HasField("info") is False
    row = await pops.world.worker("new name")
    assert (row["maintenance"], row["maintenance_msg"]) == (False, None)
    await _update(pops, owner, worker, info="")
    assert (await pops.world.worker("new name"))["info"] is None


async def test_changes_that_are_not_allowed_change_nothing(pops: Pops) -> None:
    owner, stranger = await pops.world.account("owner", 1), await pops.world.account("stranger")
    await pops.pop(owner)
    await pops.pop(owner, "other one")
    worker = await _id(pops)
    before = await pops.world.worker("worker")
    cases: tuple[tuple[Account, object, dict[str, Any], str], ...] = (
        (stranger, worker, {"maintenance": True}, "NotOwner"),
        (owner, worker, {"paused": True}, "NotModerator"),
        (owner, worker, {}, "NoWorkerModSelected"),
        (owner, worker, {"maintenance_msg": "alone"}, "NoWorkerModSelected"),
        (owner, worker, {"name": "abcd"}, "BadRequest"),
        (owner, worker, {"name": "my colab"}, "BadRequest"),
        (owner, worker, {"name": "shitty one"}, "ProfaneWorkerName"),
        (owner, worker, {"info": "what the fuck"}, "ProfaneWorkerInfo"),
        (owner, worker, {"name": "n" * 101}, "TooLongWorkerName"),
        (owner, worker, {"info": "i" * 1001}, "TooLongWorkerName"),
        (owner, worker, {"maintenance": True, "maintenance_msg": "m" * 301}, "BadRequest"),
        (owner, worker, {"info": "\0"}, "NulByteInPayload"),
        (owner, worker, {"name": "other one"}, "WorkerNameAlreadyExists"),
        (owner, uuid.uuid4(), {"maintenance": True}, "WorkerNotFound"),
        (owner, "x", {"maintenance": True}, "WorkerNotFound"),
        (await pops.world.anonymous(), worker, {"maintenance": True}, "AnonForbidden"),
        (Account(9, "unknown", ""), worker, {"maintenance": True}, "InvalidAPIKey"),
    )
    for who, which, changes, word in cases:
        with pytest.raises(Refusal) as refused:
            await _update(pops, who, which, **changes)
        assert refused.value.reason.word == word, changes
    assert await pops.world.worker("worker") == before


async def test_a_moderator_pauses_any_worker(pops: Pops) -> None:
    owner, moderator = await pops.world.account(), await pops.world.account("mod", 0)
    await pops.pop(owner)
    assert (await _update(pops, moderator, await _id(pops), paused=True)).paused
    assert (await pops.world.worker("worker"))["paused"]


async def test_a_worker_is_deleted_once_no_stored_job_references_it(pops: Pops) -> None:
    owner, stranger = await pops.world.account("owner", 1), await pops.world.account("stranger")
    request = await pops.world.chat(stranger)
    await pops.pop(owner)
    worker = await _id(pops)
    for who, word in ((stranger, "NotModerator"), (owner, "Locked")):
        with pytest.raises(Refusal) as refused:
            await _delete(pops, who, worker)
        assert refused.value.reason.word == word

    await pops.world.run("DELETE FROM dispatch.waiting_prompts WHERE id = $1", request)
    gone = await _delete(pops, owner, worker)

    assert (gone.deleted_id, gone.deleted_name) == (str(worker), "worker")
    with pytest.raises(Refusal) as refused:
        await _delete(pops, owner, worker)
    assert refused.value.reason.word == "WorkerNotFound"
    assert (await pops.pop(owner)).generation_ids == []
