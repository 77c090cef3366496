"""Many pops at once on a real Postgres: every job is handed out, and none twice, whatever the requests are like."""

import asyncio
from collections import Counter
from secrets import SystemRandom
from uuid import UUID

from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account

_WORKERS = 10
_ROUNDS = 12

_choice = SystemRandom()


async def test_ten_pops_at_once_hand_out_every_job_and_none_twice(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    requesters = [await pops.world.account(f"requester{number}") for number in range(3)]
    for _ in range(_ROUNDS):
        requested = await _request(pops, requesters, owner)
        handed_out: list[str] = []
        while True:
            answers = await asyncio.gather(*(_pop(pops, owner, f"worker {number}") for number in range(_WORKERS)))
            popped = [generation for generation_ids in answers for generation in generation_ids]
            handed_out += popped
            if not popped:
                break

        stored = Counter[UUID]()
        for request in requested:
            stored[request] = len(await pops.world.generations(request))
        assert stored == requested
        assert len(set(handed_out)) == len(handed_out) == requested.total()
        assert await pops.world.value("SELECT count(*) FROM dispatch.waiting_prompts WHERE n <> 0") == 0
        assert await pops.world.value("SELECT count(*) FROM dispatch.wp_models WHERE waiting") == 0
        assert await pops.world.value("SELECT count(*) FROM dispatch.wp_allowed_workers WHERE waiting") == 0


async def _request(pops: Pops, requesters: list[Account], owner: Account) -> Counter[UUID]:
    """A few requests of all kinds that each of the workers can take; how many jobs each has."""
    requested = Counter[UUID]()
    for _ in range(_choice.randint(1, 8)):
        kind, jobs = _choice.choice([pops.world.chat, pops.world.text]), _choice.randint(1, 4)
        columns: dict[str, object] = {"jobs": jobs, "max_length": _choice.choice([64, 512, 1000, 1024])}
        columns["disable_batching"] = _choice.random() < 0.2
        columns["priority"] = _choice.randint(0, 100)
        if _choice.random() < 0.2 and (worker := await _a_worker(pops)) is not None:
            columns["workers"] = [worker]
        requested[await kind(_choice.choice([*requesters, owner]), **columns)] = jobs
    return requested


async def _a_worker(pops: Pops) -> UUID | None:
    worker: UUID | None = await pops.world.value("SELECT id FROM dispatch.workers ORDER BY random() LIMIT 1")
    return worker


async def _pop(pops: Pops, owner: Account, name: str) -> list[str]:
    return list((await pops.pop(owner, name, amount=_choice.randint(1, 4))).generation_ids)
