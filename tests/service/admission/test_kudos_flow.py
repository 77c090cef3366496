"""GetKudosFlow: what was paid and earned in each hour of the last day, from the ledger."""

import itertools
from datetime import timedelta
from uuid import uuid4

from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import AdmissionWorld


async def _flow(world: AdmissionWorld) -> pb.GetKudosFlowResponse:
    ask = world.neighbour.once(world.stub.GetKudosFlow, deadline=timedelta(seconds=20))
    answer: pb.GetKudosFlowResponse = await ask(pb.GetKudosFlowRequest())
    return answer


async def _settle(
    world: AdmissionWorld, kind: str, requester: int | None, owner: int, reward: int, charge: int
) -> None:
    await world.sql.execute(
        "SELECT admission.settle_v2($1, $2, NULL, $3, NULL, $4, $5, $6, 100, 80)",
        uuid4(), kind, requester, owner, reward, charge,
    )  # fmt: skip


async def test_a_day_is_24_hours_whether_anything_happened_or_not(world: AdmissionWorld) -> None:
    flow = await _flow(world)
    assert len(flow.hours) == 24
    begins = [hour.hour.ToDatetime() for hour in flow.hours]
    assert all(later - earlier == timedelta(hours=1) for earlier, later in itertools.pairwise(begins))
    assert sum(hour.paid_hundredths + hour.earned_hundredths + hour.uptime_hundredths for hour in flow.hours) == 0


async def test_replies_and_uptime_are_counted_in_the_hour_they_came_in(world: AdmissionWorld) -> None:
    payer = await world.account("payer", kudos=10_000)
    owner = await world.account("owner")
    await _settle(world, "generation", payer.id, owner.id, 700, 900)
    await _settle(world, "uptime", None, owner.id, 250, 0)
    # two of them: the hour may turn between the settlements and the look
    hours = (await _flow(world)).hours[-2:]
    assert sum(hour.paid_hundredths for hour in hours) == 1000, "the charge and what is burned"
    assert sum(hour.earned_hundredths for hour in hours) == 700, "what waits for trust included"
    assert sum(hour.uptime_hundredths for hour in hours) == 250


async def test_what_happened_before_the_last_day_is_not_counted(world: AdmissionWorld) -> None:
    payer = await world.account("payer", kudos=10_000)
    owner = await world.account("owner")
    await _settle(world, "generation", payer.id, owner.id, 700, 900)
    await world.sql.execute("UPDATE admission.kudos_ledger SET created = created - interval '25 hours'")
    assert sum(hour.paid_hundredths for hour in (await _flow(world)).hours) == 0
