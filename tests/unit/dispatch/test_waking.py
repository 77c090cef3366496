"""Who is woken for which jobs, and in which order."""

import asyncio
import uuid
from dataclasses import replace
from typing import Any

from services.dispatch.rules.matching import Fit
from services.dispatch.rules.waking import Notice, may_fit
from services.dispatch.waiting_room import Seat, WaitingRoom

FIT = Fit(
    priority_users=(7,),
    owner_only=False,
    chat_model="m",
    features=("tools",),
    image_transport="url",
    chat_length=512,
    chat_context=4096,
    tools_max_temperature=1.0,
    text_models=("m", "t"),
    text_length=256,
    text_context=2048,
    softprompts=(),
    trusted=False,
    validated=False,
    speed=5.0,
    paused=False,
    capacity=1000.0,
)
CHAT = Notice(
    jobs=1,
    is_chat=True,
    models=frozenset({"m"}),
    features=frozenset(),
    has_images=False,
    trusted_workers=False,
    validated_backends=False,
    min_speed=0,
    max_length=512,
    max_context_length=4096,
    tools_temperature=None,
    user_id=1,
    workers=None,
    avoids_workers=False,
)
TEXT = replace(CHAT, is_chat=False, max_length=256, max_context_length=2048)
ME = uuid.uuid4()


def test_a_notice_wakes_who_the_queue_would_serve() -> None:
    yes: tuple[dict[str, Any], ...] = (
        {},
        {"models": None},
        {"features": frozenset({"tools"}), "has_images": True, "tools_temperature": 1.0},
        {"workers": frozenset({ME})},
        {"workers": frozenset({uuid.uuid4()}), "avoids_workers": True},
        {"workers": frozenset()},
    )
    no: tuple[dict[str, Any], ...] = (
        {"models": frozenset({"t"})},
        {"features": frozenset({"seed"})},
        {"max_length": 513},
        {"max_context_length": 4097},
        {"tools_temperature": 1.5},
        {"trusted_workers": True},
        {"validated_backends": True},
        {"min_speed": 5.5},
        {"workers": frozenset({uuid.uuid4()})},
        {"workers": frozenset({ME}), "avoids_workers": True},
    )
    assert [may_fit(replace(CHAT, **changed), ME, FIT) for changed in yes] == [True] * len(yes)
    assert [may_fit(replace(CHAT, **changed), ME, FIT) for changed in no] == [False] * len(no)
    assert may_fit(TEXT, ME, FIT)
    assert may_fit(replace(TEXT, models=frozenset()), ME, FIT)
    assert not may_fit(replace(TEXT, models=frozenset({"x"})), ME, FIT)
    assert not may_fit(replace(TEXT, max_length=257), ME, FIT)
    assert not may_fit(TEXT, ME, replace(FIT, text_models=()))
    assert not may_fit(CHAT, ME, replace(FIT, owner_only=True))
    assert may_fit(replace(CHAT, user_id=7), ME, replace(FIT, owner_only=True))


async def _woken(seats: list[Seat]) -> list[bool]:
    return [await seat.wait(0.01) for seat in seats]


async def test_the_longest_waiting_are_woken_as_many_as_there_are_jobs() -> None:
    room = WaitingRoom()
    with room.seat() as one, room.seat() as two, room.seat() as three:
        for seat in (one, two, three):
            seat.offer(ME, FIT)
        room.tell(replace(CHAT, jobs=2))
        assert await _woken([one, two, three]) == [True, True, False]
        two.served()


async def test_a_call_in_vain_goes_on_to_the_next_and_is_not_lost_with_its_seat() -> None:
    room = WaitingRoom()
    with room.seat() as first, room.seat() as last:
        with room.seat() as second:
            for seat in (first, second, last):
                seat.offer(ME, FIT)
            room.tell(CHAT)
            assert await first.wait(1)
            assert not await first.wait(0)  # found nothing
        # the second left without having looked
        assert await last.wait(1)
        last.served()
        assert not await last.wait(0)


async def test_what_is_told_while_a_pop_looks_is_kept_for_its_next_look() -> None:
    room = WaitingRoom()
    with room.seat() as seat:
        seat.offer(ME, FIT)
        room.tell(CHAT)
        room.tell(CHAT)
        assert await seat.wait(0)
        room.tell(CHAT)
        assert await seat.wait(0)
        assert not await seat.wait(0)


async def test_a_paused_worker_takes_no_call_away_from_others() -> None:
    room = WaitingRoom()
    with room.seat() as paused, room.seat() as other:
        paused.offer(ME, replace(FIT, paused=True))
        other.offer(ME, FIT)
        room.tell(CHAT)
        assert await _woken([paused, other]) == [True, True]


async def test_closing_ends_every_wait() -> None:
    room = WaitingRoom()
    with room.seat() as seat:
        seat.offer(ME, FIT)
        waiting = asyncio.create_task(seat.wait(30))
        await asyncio.sleep(0)
        room.close()
        assert not await asyncio.wait_for(waiting, 1)
        room.tell(CHAT)
        assert not await seat.wait(30)
