"""Jobs that are given back, and what their request comes to."""

import uuid
from datetime import timedelta

from horde_pb.dispatch.v1 import worker_routes_pb2
from horde_pb.dispatch.v1.worker_routes_pb2_grpc import WorkersServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch import undoing
from tests.fakes.dispatch_service import Dispatch


async def test_a_cancelled_request_is_done_when_its_last_job_is_given_back(dispatch: Dispatch) -> None:
    scene = dispatch.scene
    owner = await scene.account()
    request = await scene.request(owner, hold=500)
    generation = await scene.generation(request, await scene.worker(owner))
    await dispatch.cancel(request)
    assert (await scene.row("dispatch.waiting_prompts", request))["terminal_outcome"] is None

    await undoing.give_back(request, [generation], dispatch.deps)

    row = await scene.row("dispatch.waiting_prompts", request)
    assert (row["n"], row["terminal_outcome"]) == (0, "cancellation")
    assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None


async def test_jobs_of_a_request_that_is_gone_are_given_back_without_a_trace(dispatch: Dispatch) -> None:
    await undoing.give_back(uuid.uuid4(), [uuid.uuid4()], dispatch.deps)
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.waiting_prompts") == 0


async def test_what_is_no_claim_has_nothing_to_give_back(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    stub = WorkersServiceStub(dispatch.caller.channel)
    give = dispatch.caller.once(stub.GiveJobsBack, deadline=timedelta(seconds=20))
    for claim in ("", "no id", str(uuid.uuid4())):
        ask = worker_routes_pb2.GiveJobsBackRequest(caller=Caller(api_key=owner.key), claim_id=claim)
        assert await give(ask) == worker_routes_pb2.GiveJobsBackResponse()
