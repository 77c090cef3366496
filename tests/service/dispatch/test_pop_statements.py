"""What a pop costs Postgres, counted in statements; and that what a pop remembers never outlives a change."""

from collections import Counter

from prometheus_client import REGISTRY

from horde.contract import reasons
from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_world import Account

_NOT_OF_A_POP = "dispatch.list_active_messages"
"""Read anew every two seconds for all pops together: whichever comes then does it."""


def _statements() -> Counter[str]:
    """How often each statement ran in this process so far."""
    ran: Counter[str] = Counter()
    for metric in REGISTRY.collect():
        for sample in metric.samples:
            if sample.name == "horde_store_query_seconds_count" and sample.labels["query"].startswith("dispatch."):
                # one sample for each way in which a statement ended
                ran[sample.labels["query"]] += int(sample.value)
    del ran[_NOT_OF_A_POP]
    return ran


async def _at_home(pops: Pops) -> Account:
    """The owner of a worker that has popped before, longer ago than a new worker is written at every pop."""
    owner = await pops.world.account("owner", 1)
    await pops.pop(owner)
    await pops.world.change_worker("worker", created=await pops.world.value("SELECT now() - interval '1 day'"))
    await pops.pop(owner)
    return owner


async def test_an_empty_pop_of_an_unchanged_worker_is_one_read(pops: Pops) -> None:
    owner = await _at_home(pops)
    for read in ("dispatch.look", "dispatch.look_idle", "dispatch.look_idle"):
        before = _statements()

        assert not (await pops.pop(owner)).generation_ids

        assert _statements() - before == Counter({read: 1})


async def test_a_claiming_pop_is_one_read_and_one_commit(pops: Pops) -> None:
    owner, requester = await _at_home(pops), await pops.world.account("requester")
    await pops.world.chat(requester)
    await pops.world.chat(requester)
    assert (await pops.pop(owner)).generation_ids
    before = _statements()

    assert (await pops.pop(owner)).generation_ids

    assert _statements() - before == Counter({"dispatch.look": 1, "dispatch.claim_jobs": 1})


async def test_the_first_job_of_an_idle_worker_is_one_read_more(pops: Pops) -> None:
    owner = await _at_home(pops)
    assert not (await pops.pop(owner)).generation_ids
    await pops.world.chat(await pops.world.account("requester"))
    before = _statements()

    assert (await pops.pop(owner)).generation_ids

    ran = Counter({"dispatch.look_idle": 1, "dispatch.find_candidates": 1, "dispatch.claim_jobs": 1})
    assert _statements() - before == ran


async def test_an_idle_worker_gets_a_job_that_names_it(pops: Pops) -> None:
    owner = await _at_home(pops)
    worker = await pops.world.worker("worker")
    assert not (await pops.pop(owner)).generation_ids
    await pops.world.chat(await pops.world.account("requester"), workers=[str(worker["id"])])

    assert (await pops.pop(owner)).generation_ids


async def test_a_changed_declaration_counts_at_the_very_pop_that_makes_it(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.chat(await pops.world.account("requester"), max_length=512)

    assert not (await pops.pop(owner, max_length=256, chat=None)).generation_ids
    assert (await pops.pop(owner)).generation_ids


async def test_an_owner_who_lost_trust_gets_no_job_for_the_trusted_at_its_next_pop(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.run("DELETE FROM admission.user_roles WHERE user_id = $1", owner.id)
    await pops.world.chat(await pops.world.account("requester"), trusted_workers=True)

    assert not (await pops.pop(owner)).generation_ids


async def test_a_worker_put_into_maintenance_gets_no_job_at_its_next_pop(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.change_worker("worker", maintenance=True)
    request = await pops.world.chat(await pops.world.account("requester"))

    assert (await pops.refused(owner)).reason is reasons.WORKER_MAINTENANCE
    assert await pops.world.generations(request) == []


async def test_a_worker_paused_since_its_last_pop_gets_a_fake_job(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.change_worker("worker", paused=True)
    request = await pops.world.chat(await pops.world.account("requester"))

    assert (await pops.pop(owner)).generation_ids
    assert [generation["fake"] for generation in await pops.world.generations(request)] == [True]


async def test_a_worker_removed_since_its_last_pop_is_registered_anew(pops: Pops) -> None:
    owner = await _at_home(pops)
    gone = (await pops.world.worker("worker"))["id"]
    await pops.world.run("DELETE FROM dispatch.workers WHERE id = $1", gone)
    request = await pops.world.chat(await pops.world.account("requester"))

    assert (await pops.pop(owner)).generation_ids
    (generation,) = await pops.world.generations(request)
    assert generation["worker_id"] == (await pops.world.worker("worker"))["id"] != gone


async def test_a_flagged_owner_is_refused_at_its_next_pop(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.run("INSERT INTO admission.user_roles VALUES ($1, 3)", owner.id)

    assert (await pops.refused(owner)).reason is reasons.WORKER_FLAGGED_MAINTENANCE


async def test_a_key_that_was_changed_opens_nothing_at_its_next_pop(pops: Pops) -> None:
    owner = await _at_home(pops)
    await pops.world.run("UPDATE admission.users SET api_key = 'another' WHERE id = $1", owner.id)

    assert (await pops.refused(owner)).reason is reasons.INVALID_API_KEY
