"""The queue of paused workers: what each filter keeps, how each order is told, and how many there are beyond a page."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from services.dispatch.handlers.list_paused_workers import list_paused_workers
from services.dispatch.rules.paused_workers import PausedQuery
from tests.fakes.dispatch_scene import Account
from tests.fakes.dispatch_service import Dispatch

FIVE_MINUTES = timedelta(minutes=5)


async def paused(dispatch: Dispatch, owner: Account, name: str, *suspicions: int, **columns: Any) -> uuid.UUID:
    worker = await dispatch.scene.worker(owner, **{"name": name, "paused": True, **columns})
    suspect = "INSERT INTO dispatch.worker_suspicions (worker_id, suspicion_id) VALUES ($1, $2)"
    await dispatch.scene.db.executemany(suspect, [(worker, reason) for reason in suspicions])
    return worker


async def names(dispatch: Dispatch, **asked: Any) -> list[str]:
    found, _ = await list_paused_workers(PausedQuery(**{"limit": 100, **asked}), dispatch.deps)
    return [worker.name for worker in found]


async def test_only_paused_workers_are_listed_and_all_that_match_are_counted_beyond_the_page(
    dispatch: Dispatch,
) -> None:
    owner = await dispatch.scene.account()
    for name in ("a", "b", "c"):
        await paused(dispatch, owner, name, 5)
    await dispatch.scene.worker(owner, name="at work")
    found, total = await list_paused_workers(PausedQuery(limit=2, suspicions=[5]), dispatch.deps)
    assert (len(found), total) == (2, 3)
    assert (await list_paused_workers(PausedQuery(limit=2, suspicions=[9]), dispatch.deps)) == ([], 0)


async def test_a_worker_is_online_for_less_than_five_minutes_after_its_check_in(dispatch: Dispatch) -> None:
    owner, now = await dispatch.scene.account(), dispatch.clock.now()
    await paused(dispatch, owner, "at five minutes", last_check_in=now - FIVE_MINUTES)
    await paused(dispatch, owner, "just before", last_check_in=now - FIVE_MINUTES + timedelta(milliseconds=1))
    assert await names(dispatch, online=True) == ["just before"]
    assert await names(dispatch, online=False) == ["at five minutes"]
    found, _ = await list_paused_workers(PausedQuery(limit=2), dispatch.deps)
    assert [(worker.name, worker.online) for worker in found] == [("just before", True), ("at five minutes", False)]


async def test_types_and_suspicions_are_any_of_those_named_and_both_have_to_match(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    await paused(dispatch, owner, "slow text", 5, 5, 3)
    await paused(dispatch, owner, "text", 9)
    await paused(dispatch, owner, "image", 5, worker_type="stable_worker")
    await paused(dispatch, owner, "interrogation", worker_type="interrogation_worker")
    assert await names(dispatch, types=["text"], sort="name") == ["slow text", "text"]
    assert await names(dispatch, types=["image", "interrogation"], sort="name") == ["image", "interrogation"]
    assert await names(dispatch, suspicions=[5, 9], sort="name") == ["image", "slow text", "text"]
    assert await names(dispatch, suspicions=[3], types=["text", "image"]) == ["slow text"]
    (one,), _ = await list_paused_workers(PausedQuery(limit=1, suspicions=[3]), dispatch.deps)
    assert dict(one.suspicions) == {3: 1, 5: 2}


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("last_check_in", ["new", "Bravo", "alpha", "charlie"]),
        ("suspicion", ["charlie", "Bravo", "alpha", "new"]),
        ("name", ["alpha", "Bravo", "charlie", "new"]),
        ("owner", ["Bravo", "new", "charlie", "alpha"]),
    ],
)
async def test_each_order_is_told_without_case_and_ids_break_ties(
    dispatch: Dispatch, sort: str, order: list[str]
) -> None:
    first, second = await dispatch.scene.account(), await dispatch.scene.account()
    rename = "UPDATE admission.users SET username = $2 WHERE id = $1"
    await dispatch.scene.db.execute(rename, first.id, "zed")
    await dispatch.scene.db.execute(rename, second.id, "Anna")
    now = dispatch.clock.now()
    ids = [uuid.UUID(int=number) for number in range(1, 5)]
    await paused(dispatch, first, "charlie", 5, 5, 5, id=ids[2], last_check_in=now - timedelta(hours=2))
    await paused(dispatch, first, "alpha", 5, id=ids[3], last_check_in=now - timedelta(hours=1))
    await paused(dispatch, second, "Bravo", 5, id=ids[0], last_check_in=now - timedelta(hours=1))
    await paused(dispatch, second, "new", id=ids[1], last_check_in=now)
    assert await names(dispatch, sort=sort) == order
