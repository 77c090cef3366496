"""Many pops at once on a real Postgres: every job is handed out, and none twice, whatever the requests are like."""

import asyncio
import random
from collections import Counter
from uuid import UUID

from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account

_WORKERS = 10
_ROUNDS = 12


async def test_ten_pops_at_once_hand_out_every_job_and_none_twice(pops: Pops) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    owner = await pops.world.account("owner", 1)
    requesters = [await pops.world.account(f"requester{number}") for number in range(3)]
    for _ in range(_ROUNDS):
        requested = await _request(pops, dice, requesters, owner)
        handed_out: list[str] = []
        while True:
            answers = await asyncio.gather(*(_pop(pops, dice, owner, f"worker {number}") for number in range(_WORKERS)))
            popped = [generation for generation_ids in answers for generation in generation_ids]
            handed_out += popped
            if not popped:
                break

        stored = Counter[UUID]()
        for request in requested:
            stored[request] = len(await pops.world.generations(request))
        assert stored == requested, seed
        assert len(set(handed_out)) == len(handed_out) == requested.total(), seed
        assert await pops.world.value("SELECT count(*) FROM dispatch.waiting_prompts WHERE n <> 0") == 0, seed
        assert await pops.world.value("SELECT count(*) FROM dispatch.wp_models WHERE waiting") == 0, seed
        assert await pops.world.value("SELECT count(*) FROM dispatch.wp_allowed_workers WHERE waiting") == 0, seed


async def _request(pops: Pops, dice: random.Random, requesters: list[Account], owner: Account) -> Counter[UUID]:
    """A few requests of all kinds that each of the workers can take; how many jobs each has."""
    requested = Counter[UUID]()
    for _ in range(dice.randint(1, 8)):
        kind, jobs = dice.choice([pops.world.chat, pops.world.text]), dice.randint(1, 4)
        columns: dict[str, object] = {"jobs": jobs, "max_length": dice.choice([64, 512, 1000, 1024])}
        columns["disable_batching"] = dice.random() < 0.2
        columns["priority"] = dice.randint(0, 100)
        if dice.random() < 0.2 and (worker := await _a_worker(pops, dice)) is not None:
            columns["workers"] = [worker]
        requested[await kind(dice.choice([*requesters, owner]), **columns)] = jobs
    return requested


async def _a_worker(pops: Pops, dice: random.Random) -> UUID | None:
    workers = await pops.world.all("SELECT id FROM dispatch.workers ORDER BY name")
    return dice.choice(workers)["id"] if workers else None


async def _pop(pops: Pops, dice: random.Random, owner: Account, name: str) -> list[str]:
    return list((await pops.pop(owner, name, amount=dice.randint(1, 4))).generation_ids)
