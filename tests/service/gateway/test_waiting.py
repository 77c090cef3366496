"""Answers that wait: a pop for a job, a status for a change."""

import asyncio
from typing import Any

import httpx
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import worker_routes_pb2
from horde_pb.dispatch.v1.status_pb2 import RequestStatus
from horde_pb.progress.v1 import progress_service_pb2 as progress
from services.gateway import waiting
from tests.fakes.gateway_services import Desk
from tests.fakes.running_gateway import running

KEY = {"apikey": "a" * 22}
POP = "/api/v2/generate/text/pop"
STATUS = "/api/v2/generate/chat/status/abc"
BODY = {"name": "my worker", "models": ["a model"]}


async def _until(found: Any) -> None:
    for _ in range(500):
        if found():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("waited in vain")


def _never(asked: list[str]) -> Any:
    async def wait(_: Any) -> dispatch.ClaimJobsResponse:
        asked.append("waits")
        try:
            await asyncio.Event().wait()
        finally:
            asked.append("cancelled")
        return dispatch.ClaimJobsResponse()

    return wait


async def test_a_pop_says_how_long_it_waits(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse(generation_ids=["one"], payload=b"{}")
    for seconds in (20, 0.5, 30):
        answer = await gateway.client.post(POP, json={**BODY, "wait_seconds": seconds}, headers=KEY)
        assert answer.json()["id"] == "one"
        asked = gateway.desk.last("ClaimJobs")
        assert (asked.wait_seconds, len(asked.claim_id)) == (seconds, 36)
    for body in (BODY, {**BODY, "wait_seconds": 0}, {**BODY, "wait_seconds": None}):
        await gateway.client.post(POP, json=body, headers=KEY)
        assert (gateway.desk.last("ClaimJobs").wait_seconds, gateway.desk.last("ClaimJobs").claim_id) == (0, "")
    refused: tuple[Any, ...] = ("20", True, -1, 30.5, [], {})
    for wrong in refused:
        answer = await gateway.client.post(POP, json={**BODY, "wait_seconds": wrong}, headers=KEY)
        assert (answer.status_code, set(answer.json()["errors"])) == (400, {"wait_seconds"})


async def test_a_worker_that_goes_away_ends_its_wait_and_its_claim_is_given_back(gateway: Any) -> None:
    asked: list[str] = []
    gateway.desk.answers["ClaimJobs"] = _never(asked)
    gateway.desk.answers["GiveJobsBack"] = worker_routes_pb2.GiveJobsBackResponse()
    with pytest.raises(httpx.ReadTimeout):
        await gateway.client.post(POP, json={**BODY, "wait_seconds": 30}, headers=KEY, timeout=0.3)
    await _until(lambda: any(name == "GiveJobsBack" for name, _ in gateway.desk.asked))
    assert gateway.desk.last("GiveJobsBack").claim_id == gateway.desk.last("ClaimJobs").claim_id
    await _until(lambda: asked == ["waits", "cancelled"])


async def test_refusals_of_a_waiting_pop_reach_the_worker(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = Refusal(reasons.WORKER_MAINTENANCE, "In maintenance.")
    answer = await gateway.client.post(POP, json={**BODY, "wait_seconds": 5}, headers=KEY)
    assert (answer.status_code, answer.json()["rc"]) == (403, "WorkerMaintenance")


async def test_a_leaving_gateway_answers_waiting_pops_at_once_and_gives_back_what_was_on_its_way() -> None:
    given_back = worker_routes_pb2.GiveJobsBackResponse()
    desk = Desk(answers={"ClaimJobs": _never([]), "GiveJobsBack": given_back})
    async with running(desk) as gateway:
        pop = asyncio.create_task(gateway.client.post(POP, json={**BODY, "wait_seconds": 30}, headers=KEY))
        await _until(lambda: desk.asked)
        gateway.stopping.set()
        answer = await asyncio.wait_for(pop, 5)
        assert (answer.status_code, answer.json()["ids"]) == (200, [])
        assert desk.last("GiveJobsBack").claim_id == desk.last("ClaimJobs").claim_id


async def test_a_leaving_gateway_answers_waiting_pops_although_nothing_can_be_given_back() -> None:
    desk = Desk(answers={"ClaimJobs": _never([]), "GiveJobsBack": Outage("dispatch", "away")})
    async with running(desk) as gateway:
        pop = asyncio.create_task(gateway.client.post(POP, json={**BODY, "wait_seconds": 30}, headers=KEY))
        await _until(lambda: desk.asked)
        gateway.stopping.set()
        assert (await asyncio.wait_for(pop, 5)).status_code == 200


async def test_a_status_waits_for_a_signal_and_answers_the_change(gateway: Any) -> None:
    standing = RequestStatus(waiting=1)
    gateway.desk.answers["GetStatus"] = lambda _: dispatch.GetStatusResponse(status=standing)
    asking = asyncio.create_task(gateway.client.get(f"{STATUS}?wait_seconds=20"))
    await _until(lambda: any(name == "WatchRequest" for name, _ in gateway.desk.asked))
    await asyncio.sleep(0.1)
    assert not asking.done()
    standing = RequestStatus(finished=1, done=True)
    answer = await asyncio.wait_for(asking, 10)
    assert answer.json()["done"] is True


async def test_a_signal_is_answered_at_once(gateway: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway.desk.streams["WatchRequest"] = [
        progress.WatchRequestResponse(subscribed=progress.Subscribed()),
        progress.WatchRequestResponse(signal=progress.Signal(event="done", generations=1)),
    ]
    looked = 0

    def status(_: Any) -> dispatch.GetStatusResponse:
        nonlocal looked
        looked += 1
        return dispatch.GetStatusResponse(status=RequestStatus(done=looked > 1, waiting=int(looked == 1)))

    gateway.desk.answers["GetStatus"] = status
    monkeypatch.setattr(waiting, "_LOOK_SECONDS", 60.0)
    answer = await asyncio.wait_for(gateway.client.get(f"{STATUS}?wait_seconds=30"), 15)
    assert answer.json()["done"] is True


async def test_a_short_wait_is_answered_when_the_state_changes_and_not_when_listening_begins(
    gateway: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_LOOK_SECONDS", 60.0)
    gateway.desk.streams["WatchRequest"] = [progress.WatchRequestResponse(subscribed=progress.Subscribed())]
    looked = 0

    def status(_: Any) -> dispatch.GetStatusResponse:
        nonlocal looked
        looked += 1
        return dispatch.GetStatusResponse(status=RequestStatus(done=looked > 2, waiting=int(looked <= 2)))

    gateway.desk.answers["GetStatus"] = status
    answer = await gateway.client.get(f"{STATUS}?wait_seconds=2")
    assert (answer.json()["done"], looked) == (True, 3)


async def test_a_status_that_does_not_change_is_answered_at_the_end(gateway: Any) -> None:
    gateway.desk.answers["GetStatus"] = dispatch.GetStatusResponse(status=RequestStatus(waiting=1))
    answer = await asyncio.wait_for(gateway.client.get(f"{STATUS}?wait_seconds=0.3"), 15)
    assert answer.json()["waiting"] == 1
    for wrong in ("x", "-1", "31", "nan", "true"):
        answer = await gateway.client.get(f"{STATUS}?wait_seconds={wrong}")
        assert (answer.status_code, set(answer.json()["errors"])) == (400, {"wait_seconds"})
    gateway.desk.answers["GetStatus"] = Refusal(reasons.REQUEST_NOT_FOUND, "Not here.")
    assert (await gateway.client.get(f"{STATUS}?wait_seconds=5")).status_code == 404
