"""What is told from a short memory shows a change at once, also where a read was under way when it was made."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from horde.store import Store
from horde_pb.dispatch.v1 import worker_messages_pb2, worker_routes_pb2
from horde_pb.dispatch.v1.worker_messages_pb2_grpc import WorkerMessagesServiceStub
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch import board, looking
from services.dispatch.deps import Deps
from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account

_DEADLINE = timedelta(seconds=20)


class _SlowStore:
    """A store whose answers are a while on their way: `has_read` when the first one is, until it `may_answer`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_read, self.may_answer = asyncio.Event(), asyncio.Event()

    async def fetch(self, *asked: Any) -> Any:
        return await self._late(self._store.fetch, *asked)

    async def fetchrow(self, *asked: Any) -> Any:
        return await self._late(self._store.fetchrow, *asked)

    async def _late(self, way: Callable[..., Any], *asked: Any) -> Any:
        answer = await way(*asked)
        self.has_read.set()
        await self.may_answer.wait()
        return answer


def _slow(deps: Deps) -> tuple[Deps, _SlowStore]:
    """The same process, for a caller whose reads take a while."""
    store = _SlowStore(deps.store)
    return replace(deps, store=cast("Store", store)), store


async def _told(pops: Pops, worker: uuid.UUID) -> str:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).GetWorker, deadline=_DEADLINE)
    return (await call(worker_routes_pb2.GetWorkerRequest(id=str(worker)))).worker.info


async def _change(pops: Pops, owner: Account, worker: uuid.UUID, info: str) -> None:
    call = pops.caller.once(WorkersServiceStub(pops.caller.channel).UpdateWorker, deadline=_DEADLINE)
    caller = Caller(api_key=owner.api_key)
    await call(worker_routes_pb2.UpdateWorkerRequest(caller=caller, worker_id=str(worker), info=info))


async def test_a_worker_that_was_being_read_when_it_was_changed_is_told_as_it_is(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    worker: uuid.UUID = (await pops.world.worker("worker"))["id"]
    deps, store = _slow(pops.deps)
    reading = asyncio.create_task(looking.worker_lately(worker, deps))
    await store.has_read.wait()

    await _change(pops, owner, worker, "changed")

    assert await _told(pops, worker) == "changed"
    await _change(pops, owner, worker, "again")
    store.may_answer.set()
    await reading
    assert await _told(pops, worker) == "again"


async def test_a_message_that_is_written_while_the_board_is_read_is_told_at_the_next_pop(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    worker: uuid.UUID = (await pops.world.worker("worker"))["id"]
    pops.deps.memory.forget(board._BOARD)
    deps, store = _slow(pops.deps)
    reading = asyncio.create_task(board.messages_for(worker, deps))
    await store.has_read.wait()

    write = pops.caller.once(WorkerMessagesServiceStub(pops.caller.channel).CreateWorkerMessage, deadline=_DEADLINE)
    caller = Caller(api_key=owner.api_key)
    await write(
        worker_messages_pb2.CreateWorkerMessageRequest(
            caller=caller, worker_id=str(worker), message="Hello", expiry_hours=1
        )
    )
    store.may_answer.set()
    assert list(await reading) == []

    assert [message.message for message in (await pops.pop(owner)).messages] == ["Hello"]
