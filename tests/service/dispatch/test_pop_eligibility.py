import uuid
from typing import Any

import pytest

from horde_pb.dispatch.v1 import workers_pb2
from tests.fakes.dispatch_pops import ALL_FEATURES, Pops, chat_declaration
from tests.fakes.dispatch_world import MODEL


async def gets_it(pops: Pops, /, *, worker: dict[str, Any] | None = None, **columns: Any) -> bool:
    """Whether a new worker of an untrusted owner gets the one chat request that waits."""
    await pops.world.chat(await pops.world.account("requester"), **columns)
    answer = await pops.pop(await pops.world.account(), f"worker {uuid.uuid4()}", **(worker or {}))
    return bool(answer.generation_ids)


def limits(**changed: Any) -> dict[str, Any]:
    return {
        "chat": chat_declaration(
            chat_limits=workers_pb2.ChatLimits(**{"max_context_length": 4096, "max_length": 1024, **changed})
        )
    }


@pytest.mark.parametrize("feature", ALL_FEATURES)
async def test_a_worker_without_a_required_feature_does_not_get_the_job(pops: Pops, feature: str) -> None:
    rest = [other for other in ALL_FEATURES if other != feature]

    assert not await gets_it(
        pops, worker={"chat": chat_declaration(chat_features=rest)}, chat_required_features=[feature]
    )
    assert (await pops.pop(await pops.world.account("second"), "second")).generation_ids


async def test_a_worker_of_another_model_does_not_get_the_job(pops: Pops) -> None:
    worker = {"models": [MODEL, "other"], "chat": chat_declaration(model_id="other")}

    assert not await gets_it(pops, worker=worker)


async def test_any_of_the_models_of_the_request_will_do(pops: Pops) -> None:
    assert await gets_it(pops, models=["other", MODEL])


@pytest.mark.parametrize(
    ("length", "declared", "fits"),
    [(1024, 1024, True), (1025, 1024, False), (600, 599, False), (600, 600, True), (513, 512, False)],
)
async def test_the_length_must_fit_exactly(pops: Pops, length: int, declared: int, fits: bool) -> None:
    assert await gets_it(pops, worker=limits(max_length=declared), max_length=length) is fits


@pytest.mark.parametrize(
    ("context", "declared", "fits"), [(4096, 4096, True), (4097, 4096, False), (3000, 2999, False), (3000, 3000, True)]
)
async def test_the_context_must_fit_exactly(pops: Pops, context: int, declared: int, fits: bool) -> None:
    assert await gets_it(pops, worker=limits(max_context_length=declared), max_context_length=context) is fits


async def test_the_limits_of_text_jobs_do_not_bound_chat_jobs(pops: Pops) -> None:
    assert await gets_it(pops, worker={"max_length": 16, "max_context_length": 80})


async def test_an_unmeasured_worker_gets_1200_tokens_and_no_more(pops: Pops) -> None:
    assert await gets_it(pops, worker=limits(max_length=16000), max_length=1200)
    assert not await gets_it(pops, worker=limits(max_length=16000), max_length=1201)


async def test_a_measured_speed_moves_the_gate(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner, **limits(max_length=16000))
    await pops.world.change_worker("worker", speed=20.0)
    await pops.world.chat(await pops.world.account("requester"), max_length=2401)
    wanted = await pops.world.chat(await pops.world.account("requester"), max_length=2400)

    await pops.pop(owner, **limits(max_length=16000))

    assert len(await pops.world.generations(wanted)) == 1
    assert not (await pops.pop(owner, **limits(max_length=16000))).generation_ids


async def test_a_temperature_over_the_tools_limit_is_kept_from_the_worker(pops: Pops) -> None:
    assert not await gets_it(pops, worker=limits(tools_max_temperature=0.5), chat_tools_temperature=0.6)
    assert await gets_it(pops, worker=limits(tools_max_temperature=0.5), chat_tools_temperature=0.5)


async def test_images_need_a_transport(pops: Pops) -> None:
    worker = {"chat": chat_declaration(image_transports=["messages_url"])}

    assert not await gets_it(pops, worker=worker, has_images=True, chat_required_features=["vision"])


async def test_a_plain_pop_withdraws_the_chat_offer(pops: Pops) -> None:
    assert not await gets_it(pops, worker={"chat": None})


async def test_a_text_request_goes_to_a_chat_worker_under_its_text_limits(pops: Pops) -> None:
    request = await pops.world.text(await pops.world.account("requester"), max_length=1500)
    owner = await pops.world.account()

    assert not (await pops.pop(owner, max_length=1499)).generation_ids
    assert (await pops.pop(owner, max_length=1500)).generation_ids
    assert len(await pops.world.generations(request)) == 1


async def test_a_chat_only_worker_gets_no_text_job(pops: Pops) -> None:
    await pops.world.text(await pops.world.account("requester"))

    assert not (await pops.pop(await pops.world.account(), chat=chat_declaration(prompt_jobs=False))).generation_ids


async def test_a_text_request_without_models_takes_any_worker(pops: Pops) -> None:
    await pops.world.text(await pops.world.account("requester"), models=[])

    answer = await pops.pop(await pops.world.account(), models=["whatever"], chat=None)

    assert answer.model == "whatever"


async def test_trust_is_needed_when_the_request_says_so(pops: Pops) -> None:
    assert not await gets_it(pops, trusted_workers=True)
    assert (await pops.pop(await pops.world.account("trusted", 1), "second")).generation_ids


async def test_a_validated_backend_is_needed_when_the_request_says_so(pops: Pops) -> None:
    assert not await gets_it(pops, worker={"bridge_agent": "mine:1:url"}, validated_backends=True)
    assert (await pops.pop(await pops.world.account("second"), "second")).generation_ids


async def test_speed_is_needed_when_the_request_says_so(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.world.chat(await pops.world.account("requester"), slow_workers=False, min_speed=5.0)

    assert not (await pops.pop(owner)).generation_ids
    await pops.world.change_worker("worker", speed=5.0)
    assert (await pops.pop(owner)).generation_ids


async def test_only_the_named_workers_get_the_job(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner, "named")
    named = (await pops.world.worker("named"))["id"]
    request = await pops.world.chat(await pops.world.account("requester"), workers=[named])

    assert not (await pops.pop(owner, "other")).generation_ids
    assert (await pops.pop(owner, "named")).generation_ids
    assert len(await pops.world.generations(request)) == 1


async def test_a_worker_to_avoid_does_not_get_the_job(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner, "avoided")
    avoided = (await pops.world.worker("avoided"))["id"]
    await pops.world.chat(await pops.world.account("requester"), workers=[avoided], worker_blacklist=True)

    assert not (await pops.pop(owner, "avoided")).generation_ids
    assert (await pops.pop(owner, "other")).generation_ids


@pytest.mark.parametrize(
    "ended",
    [{"faulted": True}, {"cancelled": True}, {"active": False}, {"n": 0}],
    ids=lambda change: next(iter(change)),
)
async def test_a_request_that_ended_is_not_handed_out(pops: Pops, ended: dict[str, Any]) -> None:
    request = await pops.world.chat(await pops.world.account("requester"))
    await pops.world.change_request(request, **ended)

    assert not (await pops.pop(await pops.world.account())).generation_ids


async def test_an_expired_request_is_not_handed_out(pops: Pops) -> None:
    request = await pops.world.chat(await pops.world.account("requester"))
    await pops.world.run(
        "UPDATE dispatch.waiting_prompts SET expiry = now() - interval '1 second' WHERE id = $1", request
    )

    assert not (await pops.pop(await pops.world.account())).generation_ids


async def order_of(pops: Pops, requests: list[uuid.UUID], **fields: Any) -> list[int]:
    """In which order one worker gets these requests, by their place in the list."""
    owner = await pops.world.account("owner", 1)
    order: list[int] = []
    for _ in requests:
        await pops.pop(owner, **fields)
        handed = [number for number, request in enumerate(requests) if await pops.world.generations(request)]
        order.extend(number for number in handed if number not in order)
    return order


async def test_the_higher_priority_is_served_first_then_the_older(pops: Pops) -> None:
    requester = await pops.world.account("requester")
    requests = [
        await pops.world.chat(requester, priority=10),
        await pops.world.text(requester, priority=5_000),
        await pops.world.chat(requester, priority=10),
        await pops.world.chat(requester, priority=900, max_length=64),
    ]

    assert await order_of(pops, requests) == [1, 3, 0, 2]


async def test_priority_users_are_served_before_everybody_else(pops: Pops) -> None:
    friend = await pops.world.account("friend")
    requester = await pops.world.account("requester")
    requests = [await pops.world.chat(requester, priority=10**6), await pops.world.chat(friend)]

    assert await order_of(pops, requests, priority_usernames=[friend.alias]) == [1, 0]


async def test_the_owner_is_served_before_everybody_else(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.world.chat(await pops.world.account("requester"), priority=10**6)
    own = await pops.world.chat(owner)

    await pops.pop(owner)

    assert len(await pops.world.generations(own)) == 1


async def test_a_worker_in_maintenance_serves_its_owner_alone(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    await pops.world.change_worker("worker", maintenance=True, maintenance_msg="gone fishing")
    friend = await pops.world.account("friend")
    await pops.world.chat(friend)

    refusal = await pops.refused(owner, priority_usernames=[friend.alias])
    own = await pops.world.chat(owner)
    await pops.pop(owner)

    assert (refusal.reason.key, refusal.message) == ("WorkerMaintenance", "gone fishing")
    assert len(await pops.world.generations(own)) == 1


async def test_a_soft_prompt_that_the_worker_lacks_is_counted_as_skipped(pops: Pops) -> None:
    await pops.world.text(await pops.world.account("requester"), softprompt="mood")
    owner = await pops.world.account()

    answer = await pops.pop(owner, softprompts=["other"])

    assert (list(answer.generation_ids), dict(answer.skipped)) == ([], {"matching_softprompt": 1})
    matched = await pops.pop(owner, softprompts=["mood"])
    assert matched.generation_ids
    assert matched.softprompt == "mood"
