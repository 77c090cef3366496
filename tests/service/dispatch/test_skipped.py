"""What a pop without a job tells of the requests that it had to pass over."""

import pytest

from tests.fakes.dispatch_pops import Pops


@pytest.mark.parametrize("kind", ["chat", "text"])
async def test_a_worker_learns_how_many_jobs_its_owner_lacks_the_trust_for(pops: Pops, kind: str) -> None:
    requester, owner = await pops.world.account("requester"), await pops.world.account()
    for _ in range(3):
        await getattr(pops.world, kind)(requester, trusted_workers=True)
    await getattr(pops.world, kind)(requester, trusted_workers=True, max_length=100_000)

    for _ in range(3):
        answer = await pops.pop(owner)
        assert (list(answer.generation_ids), dict(answer.skipped)) == ([], {"untrusted": 3})

    trusted = await pops.pop(await pops.world.account("trusted", 1), "another")
    assert (len(trusted.generation_ids), dict(trusted.skipped)) == (1, {})


async def test_a_worker_that_was_idle_learns_of_it_too(pops: Pops) -> None:
    requester, owner = await pops.world.account("requester"), await pops.world.account()
    for _ in range(3):
        assert dict((await pops.pop(owner)).skipped) == {}
    await pops.world.text(requester, trusted_workers=True)
    assert dict((await pops.pop(owner)).skipped) == {"untrusted": 1}


async def test_a_deep_queue_for_trusted_workers_is_counted_and_keeps_nobody_from_what_fits(pops: Pops) -> None:
    requester, owner = await pops.world.account("requester"), await pops.world.account()
    await pops.pop(owner)
    for _ in range(250):
        await pops.world.text(requester, trusted_workers=True, priority=1000)
    assert dict((await pops.pop(owner)).skipped) == {"untrusted": 250}
    await pops.world.text(requester)
    answer = await pops.pop(owner)
    assert (len(answer.generation_ids), dict(answer.skipped)) == (1, {})


async def test_each_request_that_is_passed_over_has_one_reason(pops: Pops) -> None:
    requester, owner = await pops.world.account("requester"), await pops.world.account()
    await pops.world.text(requester, softprompt="mine")
    await pops.world.text(requester, softprompt="mine", trusted_workers=True)
    await pops.world.text(requester, trusted_workers=True)
    assert dict((await pops.pop(owner)).skipped) == {"matching_softprompt": 1, "untrusted": 2}
