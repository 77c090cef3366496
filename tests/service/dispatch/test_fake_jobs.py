"""What a paused worker is given, and what never comes back to it."""

import pytest

from tests.fakes.dispatch_pops import Pops


async def test_a_paused_worker_gets_a_fake_job_of_each_request_once(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await pops.world.change_worker("worker", paused=True)
    request = await pops.world.chat(await pops.world.account("requester"), chat_extras={"stream_progress": True})

    answer = await pops.pop(owner)

    (row,) = await pops.world.generations(request)
    assert list(answer.generation_ids) == [str(row["id"])]
    assert row["fake"]
    assert pops.progress.opened[0].fake
    assert (await pops.world.request(request))["n"] == 1
    assert await pops.world.is_waiting(request)
    assert list((await pops.pop(owner)).generation_ids) == []


@pytest.mark.parametrize("kind", ["chat", "text"])
async def test_a_request_that_tricked_a_worker_never_comes_back_to_it(pops: Pops, kind: str) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await pops.world.change_worker("worker", paused=True)
    request = await getattr(pops.world, kind)(await pops.world.account("requester"))
    assert list((await pops.pop(owner)).generation_ids) != []

    await pops.world.change_worker("worker", paused=False)
    answer = await pops.pop(owner)

    assert (list(answer.generation_ids), dict(answer.skipped)) == ([], {})
    assert list((await pops.pop(owner, "another")).generation_ids) != []
    assert (await pops.world.request(request))["n"] == 0


async def test_a_paused_worker_serves_its_owner_for_real(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await pops.world.change_worker("worker", paused=True)
    request = await pops.world.chat(owner)

    await pops.pop(owner)

    (row,) = await pops.world.generations(request)
    assert not row["fake"]
