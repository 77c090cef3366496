"""Pops that wait: woken by jobs that fit, by nothing else, and gone without a trace when cancelled."""

import asyncio
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import worker_routes_pb2
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.handlers.claim_jobs import claim_jobs
from services.dispatch.repo import waiting
from services.dispatch.wire import pop as wire
from tests.fakes.dispatch_pops import Pops, chat_declaration, pop_request, popping
from tests.fakes.dispatch_world import Account
from tests.fakes.patience import until
from tests.servers import Database


async def _seated(pops: Pops, count: int = 1, seconds: float = 50) -> None:
    """Returns when so many pops wait, and have looked at the queue."""
    await until(lambda: len(pops.deps.room) == count and all(seat.is_waiting for seat in pops.deps.room.seats), seconds)


def _waiting(pops: Pops, owner: Account, name: str = "worker", seconds: float = 20, /, **fields: Any) -> Any:
    return asyncio.create_task(pops.pop(owner, name, wait_seconds=seconds, **fields))


async def _queue(pops: Pops, requester: Account, /, **columns: Any) -> uuid.UUID:
    """A chat request as admission queues it: activated, then told."""
    request = await pops.world.chat(requester, **columns)
    await pops.world.run("SELECT dispatch.tell_waiting_v3(ARRAY[$1::uuid])", request)
    return request


async def _give_back(pops: Pops, owner: Account, claim: str) -> None:
    """As the gateway does when its worker is gone."""
    give = pops.caller.once(WorkersServiceStub(pops.caller.channel).GiveJobsBack, deadline=timedelta(seconds=10))
    await give(worker_routes_pb2.GiveJobsBackRequest(caller=Caller(api_key=owner.api_key), claim_id=claim))


async def test_a_waiting_pop_gets_a_job_as_soon_as_it_is_queued(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    await pops.pop(owner)
    await until(lambda: REGISTRY.get_sample_value("horde_store_listening", {"channel": waiting.CHANNEL}) == 1)
    looks = _statements("dispatch.list_standing")
    for _ in range(5):
        pop = _waiting(pops, owner)
        await _seated(pops)
        await _queue(pops, requester)
        assert len((await pop).generation_ids) == 1
    # each was told of; the one look around that may be counted is that of a process which has just begun to listen
    assert _statements("dispatch.list_standing") - looks <= 1
    assert len(pops.deps.room) == 0


async def test_a_job_that_is_there_is_handed_out_without_waiting(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.world.chat(await pops.world.account("requester"))
    assert len((await asyncio.wait_for(pops.pop(owner, wait_seconds=30), 15)).generation_ids) == 1


async def test_a_declaration_that_was_withdrawn_meanwhile_is_not_restored_by_a_pop_that_waited(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    waiting_pop = _waiting(pops, owner)
    await _seated(pops)
    await pops.pop(owner, chat=None)
    request = await _queue(pops, requester)
    assert (await asyncio.wait_for(waiting_pop, 15)).generation_ids == []
    assert (await pops.world.worker("worker"))["accepts_chat_jobs"] is False
    assert await pops.world.value("SELECT n FROM dispatch.waiting_prompts WHERE id = $1", request) == 1


async def test_a_wait_ends_empty_after_its_time(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    started = time.monotonic()
    assert (await pops.pop(owner, wait_seconds=0.3)).generation_ids == []
    assert 0.3 <= time.monotonic() - started < 5


async def test_only_pops_that_may_fit_are_woken_and_one_for_each_job(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    plain = chat_declaration(chat_features=[])
    small = [_waiting(pops, owner, f"small {place}", 8, chat=plain) for place in range(3)]
    await _seated(pops, 3)
    able = [_waiting(pops, owner, f"able {place}", 8) for place in range(3)]
    await _seated(pops, 6)

    await _queue(pops, requester, chat_required_features=["tools"])
    done, _ = await asyncio.wait(able, return_when=asyncio.FIRST_COMPLETED, timeout=5)
    assert len(done) == 1
    await asyncio.sleep(0.2)
    assert [task.done() for task in (*small, *able)].count(True) == 1

    await _queue(pops, requester, jobs=2, n=2)
    await until(lambda: [task.done() for task in (*small, *able)].count(True) == 3)
    for task in (*small, *able):
        task.cancel()


async def test_a_job_that_was_given_up_wakes_another_pop(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    request = await pops.world.chat(requester)
    first = await pops.pop(owner, "one")
    pop = _waiting(pops, owner, "two")
    await _seated(pops)
    fault = pops.caller.once(pops.stub.SubmitFault, deadline=timedelta(seconds=10))
    await fault(pb.SubmitFaultRequest(caller=Caller(api_key=owner.api_key), generation_id=first.generation_ids[0]))
    assert len((await asyncio.wait_for(pop, 15)).generation_ids) == 1
    assert len(await pops.world.generations(request)) == 2


async def test_a_cancelled_pop_claims_nothing_and_leaves_the_job_to_the_next(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    gone = _waiting(pops, owner, "gone")
    await _seated(pops)
    stays = _waiting(pops, owner, "stays")
    await _seated(pops, 2)
    gone.cancel()
    await until(lambda: len(pops.deps.room) == 1)
    request = await _queue(pops, requester)
    assert len((await asyncio.wait_for(stays, 15)).generation_ids) == 1
    assert len(await pops.world.generations(request)) == 1


async def test_pops_cancelled_while_they_claim_lose_no_job(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    for place in range(12):
        claim = str(uuid.uuid4())
        pop = _waiting(pops, owner, claim_id=claim)
        await _seated(pops)
        request = await _queue(pops, requester)
        await asyncio.sleep(place / 1000)
        pop.cancel()
        with suppress(asyncio.CancelledError):
            await pop
            continue  # it was faster
        await _give_back(pops, owner, claim)

        async def waits_again(request: uuid.UUID = request) -> bool:
            return await pops.world.is_waiting(request) and not await pops.world.generations(request)

        await asyncio.sleep(0.1)  # whatever was under way is not any more
        await until(waits_again)
        assert (await pops.world.request(request))["n"] == 1
        assert len((await pops.pop(owner)).generation_ids) == 1


async def test_jobs_that_could_not_be_delivered_are_given_back_by_their_owner_alone(pops: Pops) -> None:
    owner, stranger = await pops.world.account("owner", 1), await pops.world.account("stranger", 1)
    request = await pops.world.chat(stranger, jobs=3, n=3)
    claim = str(uuid.uuid4())
    assert len((await pops.pop(owner, claim_id=claim, amount=2)).generation_ids) == 2
    for who, left in ((stranger, 2), (owner, 0), (owner, 0)):
        await _give_back(pops, who, claim)
        assert len(await pops.world.generations(request)) == left
    assert (await pops.world.request(request))["n"] == 3


async def test_a_leaving_process_ends_every_wait_at_once(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    waits = [_waiting(pops, owner, f"worker {place}") for place in range(3)]
    await _seated(pops, 3)
    pops.deps.room.close()
    for answer in await asyncio.wait_for(asyncio.gather(*waits), 15):
        assert answer.generation_ids == []


async def test_without_listening_a_job_is_found_within_seconds(database: Database) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    async with popping(database, database_listen_url=nowhere) as pops:
        owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
        pop = _waiting(pops, owner)
        await _seated(pops)
        await _queue(pops, requester)
        assert len((await asyncio.wait_for(pop, 15)).generation_ids) == 1


async def test_listening_is_taken_up_again_and_what_was_missed_is_found(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    pop = _waiting(pops, owner)
    await _seated(pops)
    # those that listen have no name, the pool's do
    listening = "datname = current_database() AND usename = 'horde_dispatch' AND application_name = ''"

    async def both_are_ended() -> bool:
        statement = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {listening}"  # noqa: S608 - the test's own words
        ended: int = await pops.world.value(statement)
        return ended == 2

    await until(both_are_ended)
    await pops.world.chat(requester)
    assert len((await asyncio.wait_for(pop, 15)).generation_ids) == 1


async def test_a_message_tells_of_a_request_what_is_matched(pops: Pops) -> None:
    requester = await pops.world.account("requester")
    workers = [uuid.uuid4() for _ in range(30)]
    request = await pops.world.text(requester, models=[], workers=workers, worker_blacklist=True, max_length=100)
    told = await pops.world.value(
        "SELECT dispatch.waiting_notice_v1(r) FROM dispatch.waiting_prompts r WHERE id = $1", request
    )
    notice = waiting.read_notice(told)
    assert (notice.jobs, notice.is_chat, notice.models, notice.workers) == (1, False, frozenset(), None)
    assert (notice.max_length, notice.user_id, notice.avoids_workers) == (100, requester.id, True)


@pytest.mark.timeout(300)
async def test_a_thousand_waiting_pops_ask_postgres_nothing_and_one_job_wakes_one_of_them(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    for worker in range(20):
        await pops.pop(owner, f"worker {worker}")
    # past the wire, which lets nobody wait for longer than a busy machine may need to seat them all
    asks = [replace(wire.ask(pop_request(owner, f"worker {place % 20}")), wait_seconds=300) for place in range(1000)]
    waiting = [asyncio.create_task(claim_jobs(ask, pops.deps)) for ask in asks]
    await _seated(pops, 1000, seconds=200)
    before, sessions = _statements(), await _sessions(pops)
    await asyncio.sleep(2)
    assert _statements() == before
    # the two sessions that listen ask now and then whether they still hear: each is then another one before and after
    assert len(sessions.symmetric_difference(await _sessions(pops))) <= 4

    request = await _queue(pops, requester)
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=20)
    assert [len((await pop).generation_ids) for pop in done] == [1]
    await asyncio.sleep(0.2)
    # a look, a claim, and what a short memory may have to read anew
    assert _statements() - before <= 6
    assert len(await pops.world.generations(request)) == 1
    pops.deps.room.close()
    assert sum([len((await pop).generation_ids) for pop in waiting]) == 1


def _statements(name: str | None = None) -> float:
    """How many statements this process has sent so far; those of a name only."""
    counts = (
        sample.value
        for metric in REGISTRY.collect()
        if metric.name == "horde_store_query_seconds"
        for sample in metric.samples
        if sample.name.endswith("_count") and name in (None, sample.labels["query"])
    )
    return sum(counts, 0.0)


async def _sessions(pops: Pops) -> set[tuple[int, object]]:
    """Every session of the service in Postgres, with the time of its last statement."""
    rows = await pops.world.all(
        """SELECT pid, query_start FROM pg_stat_activity
           WHERE datname = current_database() AND usename = 'horde_dispatch'"""
    )
    return {(row["pid"], row["query_start"]) for row in rows}
