"""SetModes: who may switch what, and that it holds at once, here and for those who read the view."""

from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from tests.service.moderation.conftest import MODERATOR


async def switch(moderation: Any, key: str, **modes: bool) -> pb.SetModesResponse:
    ask = pb.SetModesRequest(caller=Caller(api_key=key), **modes)
    answer: pb.SetModesResponse = await moderation.call(moderation.stub.SetModes, ask)
    return answer


async def in_force(moderation: Any) -> tuple[bool, bool, bool]:
    told = await moderation.call(moderation.stub.GetModes, pb.GetModesRequest())
    seen = await moderation.owner.fetchrow("SELECT maintenance, invite_only, raid FROM moderation.modes_now")
    assert tuple(seen) == (told.maintenance, told.invite_only, told.raid)
    return told.maintenance, told.invite_only, told.raid


async def test_an_administrator_switches_every_mode_and_it_holds_at_once(moderation: Any) -> None:
    boss = await moderation.account("boss")
    assert await in_force(moderation) == (False, False, False)
    changed = await switch(moderation, boss, maintenance=True, raid=True)
    assert (changed.maintenance, changed.raid, changed.HasField("invite_only")) == (True, True, False)
    assert await in_force(moderation) == (True, False, True)
    changed = await switch(moderation, boss, maintenance=False, invite_only=True)
    assert (changed.HasField("maintenance"), changed.maintenance) == (True, False)
    assert await in_force(moderation) == (False, True, True)


async def test_a_moderator_switches_invite_only_and_raid_but_not_maintenance(moderation: Any) -> None:
    await moderation.account("boss")
    key = await moderation.account("mod", MODERATOR)
    await switch(moderation, key, invite_only=True, raid=True)
    assert await in_force(moderation) == (False, True, True)
    with pytest.raises(Refusal) as no:
        await switch(moderation, key, maintenance=True, raid=False)
    assert no.value.reason is reasons.NOT_ADMIN
    assert await in_force(moderation) == (False, True, True)


async def test_anybody_else_switches_nothing(moderation: Any) -> None:
    await moderation.account("boss")
    key = await moderation.account("anybody")
    for asked, reason in (
        ({"raid": True}, reasons.NOT_MODERATOR),
        ({"invite_only": False}, reasons.NOT_MODERATOR),
        ({"maintenance": True}, reasons.NOT_ADMIN),
        ({}, reasons.NO_HORDE_MOD_SELECTED),
    ):
        with pytest.raises(Refusal) as no:
            await switch(moderation, key, **asked)
        assert no.value.reason is reason
    with pytest.raises(Refusal) as no:
        await switch(moderation, "no such key", raid=True)
    assert no.value.reason is reasons.INVALID_API_KEY
    assert await in_force(moderation) == (False, False, False)


async def test_the_key_of_an_account_on_its_way_out_opens_nothing(moderation: Any) -> None:
    key = await moderation.account("gone", MODERATOR, 9)
    with pytest.raises(Refusal) as no:
        await switch(moderation, key, raid=True)
    assert no.value.reason is reasons.INVALID_API_KEY
