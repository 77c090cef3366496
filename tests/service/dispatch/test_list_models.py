import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from prometheus_client import REGISTRY

from horde_pb.dispatch.v1 import workers_pb2
from services.dispatch.handlers.get_performance import get_performance
from services.dispatch.handlers.list_models import list_models
from tests.fakes.clock import FakeClock
from tests.fakes.dispatch_pops import Pops, chat_declaration
from tests.fakes.dispatch_world import MODEL


async def test_a_model_that_is_served_or_waited_for_is_listed(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    await pops.pop(owner, threads=2, models=[MODEL, "idle"])
    await pops.world.chat(requester, max_length=300, models=["wanted"])
    await pops.world.text(requester, max_length=100, jobs=3, models=[MODEL])
    await pops.pop(owner, threads=2, models=[MODEL, "idle"])

    found = await pops.models()

    assert set(found) == {MODEL, "idle", "wanted"}
    assert (found[MODEL].count, found[MODEL].queued, found[MODEL].jobs) == (2, 100, 3)
    assert (found["wanted"].count, found["wanted"].queued, found["wanted"].jobs) == (0, 300, 1)
    assert found["wanted"].eta_seconds == 10_000
    assert not found[MODEL].HasField("chat")
    assert [found[MODEL].custom, found["idle"].custom] == [False, True]


async def test_the_eta_is_what_waits_over_what_is_made(pops: Pops) -> None:
    await pops.pop(await pops.world.account(), threads=2)
    await pops.world.text(await pops.world.account("requester"), max_length=100)
    await pops.world.run(
        "INSERT INTO dispatch.model_performances (model, performance) VALUES ($1, 4), ($1, 6.1)", MODEL
    )

    found = (await pops.models())[MODEL]

    assert (round(found.performance, 1), found.eta_seconds) == (5.0, 10)


async def test_the_chat_list_has_only_models_of_chat_workers_with_their_offer(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    small = workers_pb2.ChatLimits(max_context_length=2048, max_length=700)
    await pops.pop(owner, "one", chat=chat_declaration(chat_features=["seed"], chat_limits=small))
    await pops.pop(owner, "two", chat=chat_declaration(chat_features=["tools"], prompt_jobs=False))
    await pops.pop(owner, "three", models=["text only"], chat=None)

    found = await pops.models(chat=True)

    assert set(found) == {MODEL}
    offer = found[MODEL].chat
    assert (offer.workers, offer.max_context_length, offer.max_length) == (2, 4096, 1024)
    assert list(offer.features) == ["seed", "tools"]
    assert offer.created == int((await pops.world.worker("one"))["created"].timestamp())
    assert found[MODEL].count == 1


async def test_workers_in_maintenance_or_away_serve_nothing(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner, "one")
    await pops.pop(owner, "two")
    await pops.world.change_worker("one", maintenance=True)
    await pops.world.run(
        "UPDATE dispatch.workers SET last_check_in = now() - interval '301 seconds' WHERE name = 'two'"
    )

    assert await pops.models() == {}
    assert await pops.models(chat=True) == {}


async def test_the_performance_counts_what_waits_and_who_works(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    await pops.pop(owner, threads=4)
    await pops.world.text(requester, max_length=100, jobs=3)
    await pops.pop(owner, threads=4)
    await pops.world.run(
        """INSERT INTO dispatch.horde_fulfillments (things, created)
           VALUES (50, now()), (9, now() - interval '2 minutes')"""
    )

    found = await pops.performance()

    assert (found.queued_text_requests, found.queued_tokens) == (3, 100)
    assert (found.text_worker_count, found.text_thread_count, found.past_minute_tokens) == (1, 4, 50)


async def test_many_callers_cost_one_sum_and_a_second_later_another(pops: Pops) -> None:
    owner, requester = await pops.world.account("owner", 1), await pops.world.account("requester")
    await pops.pop(owner)
    await pops.world.text(requester, max_length=100)
    clock = FakeClock(datetime.now(UTC))
    deps, before = replace(pops.deps, clock=clock), _sums()
    asked = [list_models(deps, chat=chat) for chat in (False, True) for _ in range(5)]
    assert {model.queued for models in await asyncio.gather(*asked) for model in models} == {100}
    first = await get_performance(deps)
    await pops.world.text(requester, max_length=100)
    assert await get_performance(deps) == first
    assert _sums() == {name: before[name] + 1 for name in before}
    clock.advance(timedelta(seconds=1))
    assert [model.queued for model in await list_models(deps, chat=False)] == [200]
    assert (await get_performance(deps)).queued_tokens == 200


def _sums() -> dict[str, float]:
    """How often each sum over the queue or the fleet was asked of Postgres in this process."""
    names = ("list_models", "list_chat_offers", "measure_horde")
    return {
        name: REGISTRY.get_sample_value(
            "horde_store_query_seconds_count", {"query": f"dispatch.{name}", "outcome": "ok"}
        )
        or 0.0
        for name in names
    }
