"""GetModes and GetPolicy: what others base their decisions on is at most a second old."""

from datetime import timedelta
from typing import Any

from horde_pb.moderation.v1 import moderation_service_pb2 as pb


async def test_a_switched_mode_is_told_within_a_second(moderation: Any) -> None:
    ask = pb.GetModesRequest()
    assert await moderation.call(moderation.stub.GetModes, ask) == pb.GetModesResponse()
    await moderation.owner.execute("UPDATE moderation.settings SET maintenance = true, raid = true")
    moderation.clock.advance(timedelta(seconds=1))
    assert await moderation.call(moderation.stub.GetModes, ask) == pb.GetModesResponse(maintenance=True, raid=True)


async def test_only_filters_of_the_types_in_use_make_prompts_be_screened(moderation: Any) -> None:
    ask = pb.GetPolicyRequest()
    assert not (await moderation.call(moderation.stub.GetPolicy, ask)).has_filters
    await moderation.add_filter(29, "unused")
    assert not (await moderation.call(moderation.stub.GetPolicy, ask)).has_filters
    await moderation.add_filter(11, "used")
    assert (await moderation.call(moderation.stub.GetPolicy, ask)).has_filters
