"""What people tell workers: who may, who sees it, and that a pop's answer carries it."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import worker_messages_pb2 as pb
from horde_pb.dispatch.v1 import worker_routes_pb2, workers_pb2
from horde_pb.dispatch.v1.worker_messages_pb2_grpc import WorkerMessagesServiceStub
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.loops.forget_messages import forget_messages
from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account

_DEADLINE = timedelta(seconds=10)


async def _create(pops: Pops, writer: Account, text: str = "hello", /, **fields: Any) -> workers_pb2.WorkerMessage:
    call = pops.caller.once(WorkerMessagesServiceStub(pops.caller.channel).CreateWorkerMessage, deadline=_DEADLINE)
    wanted = {"expiry_hours": 12, **fields}
    ask = pb.CreateWorkerMessageRequest(caller=Caller(api_key=writer.api_key), message=text, **wanted)
    return (await call(ask)).message


async def _list(pops: Pops, viewer: Account, **query: Any) -> list[str]:
    call = pops.caller.once(WorkerMessagesServiceStub(pops.caller.channel).ListWorkerMessages, deadline=_DEADLINE)
    listed = await call(pb.ListWorkerMessagesRequest(caller=Caller(api_key=viewer.api_key), **query))
    return [message.message for message in listed.messages]


async def _get(pops: Pops, message: object) -> workers_pb2.WorkerMessage:
    call = pops.caller.once(WorkerMessagesServiceStub(pops.caller.channel).GetWorkerMessage, deadline=_DEADLINE)
    return (await call(pb.GetWorkerMessageRequest(message_id=str(message)))).message


async def _delete(pops: Pops, who: Account, message: object) -> None:
    call = pops.caller.once(WorkerMessagesServiceStub(pops.caller.channel).DeleteWorkerMessage, deadline=_DEADLINE)
    await call(pb.DeleteWorkerMessageRequest(caller=Caller(api_key=who.api_key), message_id=str(message)))


async def _word(call: Any) -> str:
    with pytest.raises(Refusal) as refused:
        await call
    return refused.value.reason.word


async def _id(pops: Pops, name: str) -> str:
    return str((await pops.world.worker(name))["id"])


async def test_a_pop_with_and_without_a_job_carries_what_its_worker_is_told(pops: Pops) -> None:
    owner, moderator = await pops.world.account("owner", 1), await pops.world.account("mod", 0)
    await pops.pop(owner)
    await pops.pop(owner, "other")
    mine = await _create(pops, owner, "update soon", worker_id=await _id(pops, "worker"))
    await _create(pops, moderator, "to everybody", origin="the team", expiry_hours=720)
    await _create(pops, owner, "not yours", worker_id=await _id(pops, "other"))

    empty = await pops.pop(owner)
    await pops.world.chat(moderator)
    job = await pops.pop(owner)

    for answer in (empty, job):
        assert [(told.message, told.origin) for told in answer.messages] == [
            ("update soon", owner.alias),
            ("to everybody", "the team"),
        ]
    assert job.generation_ids
    assert (empty.messages[0].id, empty.messages[0].worker_id) == (mine.id, await _id(pops, "worker"))
    assert not empty.messages[1].HasField("worker_id")
    assert mine.expiry.seconds > 0


async def test_what_expired_or_was_taken_back_is_told_no_more(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    worker = await _id(pops, "worker")
    kept, taken_back = await _create(pops, owner, worker_id=worker), await _create(pops, owner, worker_id=worker)
    await pops.pop(owner)
    await _delete(pops, owner, taken_back.id)
    assert [told.id for told in (await pops.pop(owner)).messages] == [kept.id]
    assert await _word(_delete(pops, owner, taken_back.id)) == "WorkermessageNotFound"

    await pops.world.run("UPDATE dispatch.worker_messages SET expiry = now() - interval '1 second'")
    await _create(pops, owner, "news", worker_id=worker)
    assert [told.message for told in (await pops.pop(owner)).messages] == ["news"]
    assert await _list(pops, owner, validity=pb.MESSAGE_VALIDITY_ACTIVE) == ["news"]
    assert await _list(pops, owner, validity=pb.MESSAGE_VALIDITY_EXPIRED) == ["hello"]
    assert await _list(pops, owner, validity=pb.MESSAGE_VALIDITY_ALL) == ["news", "hello"]
    await pops.world.run(
        "UPDATE dispatch.worker_messages SET expiry = now() - interval '31 days' WHERE message <> 'news'"
    )
    await forget_messages(pops.deps)
    assert await _list(pops, owner, validity=pb.MESSAGE_VALIDITY_ALL) == ["news"]


async def test_a_page_has_fifty_messages_the_newest_first(pops: Pops) -> None:
    moderator = await pops.world.account("mod", 0)
    await pops.world.run(
        """INSERT INTO dispatch.worker_messages (user_id, message, origin, created, expiry)
           SELECT $1, i::text, '', now() + i * interval '1 second', now() + interval '1 day'
           FROM generate_series(1, 60) AS i""",
        moderator.id,
    )
    assert await _list(pops, moderator) == [str(number) for number in range(60, 10, -1)]
    assert await _list(pops, moderator, page=2) == [str(number) for number in range(10, 0, -1)]


async def test_others_see_the_messages_of_their_workers_and_those_for_everybody(pops: Pops) -> None:
    owner, stranger = await pops.world.account("owner", 1), await pops.world.account("stranger")
    moderator = await pops.world.account("mod", 0)
    await pops.pop(owner)
    worker = await _id(pops, "worker")
    await _create(pops, owner, "mine", worker_id=worker)
    await _create(pops, moderator, "from a moderator", worker_id=worker)
    await _create(pops, moderator, "all")

    assert await _list(pops, owner) == ["all", "from a moderator", "mine"]
    assert await _list(pops, owner, user_id=owner.id) == ["mine"]
    assert await _list(pops, owner, worker_id=worker) == ["from a moderator", "mine"]
    assert await _list(pops, moderator) == ["all", "from a moderator", "mine"]
    assert await _list(pops, moderator, user_id=owner.id, worker_id=worker) == ["mine"]
    assert await _list(pops, stranger) == ["all"]
    assert await _word(_list(pops, stranger, worker_id=worker)) == "Forbidden"
    assert await _word(_list(pops, stranger, user_id=owner.id)) == "Forbidden"
    assert await _word(_list(pops, stranger, worker_id=str(uuid.uuid4()))) == "WorkerNotFound"
    assert await _word(_list(pops, Account(0, "no key", ""))) == "InvalidAPIKey"
    assert await _word(_list(pops, await pops.world.anonymous())) == "AnonForbidden"


async def test_messages_that_may_not_be_written_are_not(pops: Pops) -> None:
    owner, stranger = await pops.world.account("owner", 1), await pops.world.account("stranger")
    await pops.pop(owner)
    worker = await _id(pops, "worker")
    for who, text, fields, word in (
        (stranger, "x", {"worker_id": worker}, "MessagesOnlyOwnWorkers"),
        (owner, "x", {}, "MessagesOnlyOwnWorkers"),
        (owner, "x", {"worker_id": str(uuid.uuid4())}, "WorkerNotFound"),
        (owner, "x", {"worker_id": "none"}, "WorkerNotFound"),
        (owner, " ", {"worker_id": worker}, "BadRequest"),
        (owner, "x" * 10_241, {"worker_id": worker}, "BadRequest"),
        (owner, "x", {"worker_id": worker, "expiry_hours": 721}, "BadRequest"),
        (owner, "x", {"worker_id": worker, "expiry_hours": 0}, "BadRequest"),
        (owner, "x", {"worker_id": worker, "origin": "o" * 256}, "BadRequest"),
        (owner, "\0", {"worker_id": worker}, "NulByteInPayload"),
        (Account(0, "no key", ""), "x", {"worker_id": worker}, "InvalidAPIKey"),
        (await pops.world.anonymous(), "x", {"worker_id": worker}, "AnonForbidden"),
    ):
        assert await _word(_create(pops, who, text, **fields)) == word, fields
    assert await pops.world.value("SELECT count(*) FROM dispatch.worker_messages") == 0


async def test_one_message_is_for_whoever_knows_its_id_and_goes_with_its_writer_or_a_moderator(pops: Pops) -> None:
    owner, moderator = await pops.world.account("owner", 1), await pops.world.account("mod", 0)
    await pops.pop(owner)
    written = await _create(pops, moderator, "x" * 10_240, worker_id=await _id(pops, "worker"))
    assert (await _get(pops, written.id)).message == "x" * 10_240
    assert await _word(_get(pops, uuid.uuid4())) == "WorkermessageNotFound"
    assert await _word(_get(pops, "no id")) == "WorkermessageNotFound"
    assert await _word(_delete(pops, owner, written.id)) == "Forbidden"
    assert (await _get(pops, written.id)).id == written.id
    own = await _create(pops, owner, worker_id=await _id(pops, "worker"))
    await _delete(pops, moderator, own.id)
    assert await _word(_get(pops, own.id)) == "WorkermessageNotFound"


async def test_details_show_messages_to_who_sees_the_owner(pops: Pops) -> None:
    owner, moderator = await pops.world.account("owner", 1), await pops.world.account("mod", 0)
    await pops.pop(owner)
    await _create(pops, owner, "seen", worker_id=await _id(pops, "worker"))
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).GetWorker, deadline=_DEADLINE)

    async def messages(key: str) -> list[str]:
        ask = worker_routes_pb2.GetWorkerRequest(caller=Caller(api_key=key), name="worker")
        return [told.message for told in (await call(ask)).worker.messages]

    assert await messages(moderator.api_key) == ["seen"]
    assert await messages(owner.api_key) == []


async def test_a_worker_that_goes_takes_its_messages_with_it(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    await _create(pops, owner, worker_id=await _id(pops, "worker"))
    await pops.world.run("DELETE FROM dispatch.workers")
    assert await pops.world.value("SELECT count(*) FROM dispatch.worker_messages") == 0
