"""Workers that become suspicious by their speed, their dropped jobs or their name; and replies reported as csam."""

import asyncio
import json
import uuid
from datetime import timedelta
from typing import Any

import grpc
import pytest

from horde.failures import Outage
from services.dispatch.loops.deliver_reports import deliver_reports
from tests.fakes.dispatch_pops import Pops
from tests.fakes.dispatch_scene import MODEL, Account
from tests.fakes.dispatch_service import Dispatch


async def _suspicions(dispatch: Dispatch, worker: uuid.UUID) -> list[int]:
    rows = await dispatch.scene.db.fetch(
        "SELECT suspicion_id FROM dispatch.worker_suspicions WHERE worker_id = $1 ORDER BY id", worker
    )
    return [row["suspicion_id"] for row in rows]


async def _of_account(dispatch: Dispatch, account: Account) -> list[int]:
    rows = await dispatch.scene.db.fetch(
        "SELECT suspicion_id FROM admission.user_suspicions WHERE user_id = $1 ORDER BY id", account.id
    )
    return [row["suspicion_id"] for row in rows]


async def _drop(dispatch: Dispatch, owner: Account, worker: uuid.UUID, jobs: int) -> None:
    for _ in range(jobs):
        request = await dispatch.scene.request(owner)
        await dispatch.fault(await dispatch.scene.generation(request, worker), owner)


async def _fast(dispatch: Dispatch, owner: Account, worker: uuid.UUID, tokens: int, **columns: Any) -> None:
    request = await dispatch.scene.request(owner, max_length=1024)
    generation = await dispatch.scene.generation(request, worker, **columns)
    await dispatch.reply(generation, owner, {"role": "assistant", "content": "x" * (4 * tokens)})
    await dispatch.settled()


async def test_the_twenty_first_dropped_job_of_an_hour_is_a_suspicion_of_worker_and_owner(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner, name="dropper")
    await _drop(dispatch, owner, worker, 20)
    assert await _suspicions(dispatch, worker) == []
    assert not (await dispatch.scene.row("dispatch.workers", worker))["maintenance"]
    await _drop(dispatch, owner, worker, 1)

    row = await dispatch.scene.row("dispatch.workers", worker)
    assert (row["maintenance"], row["aborted_jobs"], row["uncompleted_jobs"]) == (True, 0, 21)
    assert await _suspicions(dispatch, worker) == await _of_account(dispatch, owner) == [9]
    await deliver_reports(dispatch.deps)
    (told,) = dispatch.reports.suspicions.values()
    assert (told.worker_id, told.worker_name, told.account_id) == (str(worker), "dropper", owner.id)
    assert (told.suspicion_id, told.detail, told.paused) == (9, "The worker dropped 21 jobs within an hour.", False)
    assert told.happened.seconds == int(dispatch.clock.now().timestamp())
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.worker_reports") == 0


async def test_in_raid_mode_eleven_dropped_jobs_are_a_suspicion_without_maintenance(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    await dispatch.scene.db.execute("UPDATE moderation.settings SET raid = true")
    await _drop(dispatch, owner, worker, 11)
    row = await dispatch.scene.row("dispatch.workers", worker)
    assert (row["maintenance"], row["aborted_jobs"]) == (False, 0)
    assert await _suspicions(dispatch, worker) == [9]


async def test_dropped_jobs_of_another_hour_are_forgotten(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    await _drop(dispatch, owner, worker, 20)
    dispatch.clock.advance(timedelta(hours=1, seconds=1))
    await _drop(dispatch, owner, worker, 1)
    row = await dispatch.scene.row("dispatch.workers", worker)
    assert (row["aborted_jobs"], row["uncompleted_jobs"], row["maintenance"]) == (1, 21, False)
    assert await _suspicions(dispatch, worker) == []


async def test_a_reply_faster_than_any_worker_is_two_suspicions_of_an_untrusted_owner_and_one_of_a_trusted(
    dispatch: Dispatch,
) -> None:
    untrusted, trusted = await dispatch.scene.account(), await dispatch.scene.account(trusted=True)
    for owner, expected in ((untrusted, [5, 5]), (trusted, [5])):
        worker = await dispatch.scene.worker(owner)
        await _fast(dispatch, owner, worker, 150)
        assert await _suspicions(dispatch, worker) == []
        await _fast(dispatch, owner, worker, 151)
        assert await _suspicions(dispatch, worker) == await _of_account(dispatch, owner) == expected
    details = [told.detail for told in dispatch.reports.suspicions.values()]
    assert f"The worker made 151.0 tokens per second with {MODEL}; at most 150 are credible." in details


async def test_the_fifth_suspicion_pauses_the_worker_of_an_untrusted_owner_once(dispatch: Dispatch) -> None:
    untrusted, trusted = await dispatch.scene.account(), await dispatch.scene.account(trusted=True)
    for owner in (untrusted, trusted):
        worker = await dispatch.scene.worker(owner)
        for _ in range(6):
            await _fast(dispatch, owner, worker, 200)
        assert (await dispatch.scene.row("dispatch.workers", worker))["paused"] is (owner is untrusted)
    await deliver_reports(dispatch.deps)
    assert [told.account_id for told in dispatch.reports.suspicions.values() if told.paused] == [untrusted.id]


async def test_the_speed_of_a_fake_job_and_of_a_refused_reply_suspects_nobody(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner, paused=True)
    await _fast(dispatch, owner, worker, 500, fake=True)
    assert await _suspicions(dispatch, worker) == []


async def test_moderation_is_told_of_suspicions_right_after_the_reply_or_the_fault(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account(trusted=True)
    worker = await dispatch.scene.worker(owner)
    await _fast(dispatch, owner, worker, 1000)
    assert [told.suspicion_id for told in dispatch.reports.suspicions.values()] == [5]
    await _drop(dispatch, owner, worker, 21)
    await dispatch.settled()
    assert [told.suspicion_id for told in dispatch.reports.suspicions.values()] == [5, 9]


async def test_a_report_carries_the_whole_text_that_a_service_sent_in_an_address_place(dispatch: Dispatch) -> None:
    asker, owner = await dispatch.scene.account(), await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    request = await dispatch.scene.request(asker, ipaddr="x" * 255)
    await dispatch.reply(await dispatch.scene.generation(request, worker), owner, state="csam")
    await dispatch.settled()
    (told,) = dispatch.reports.csam.values()
    assert told.origin == "x" * 255


async def test_csam_is_reported_with_the_request_in_the_commit_of_its_reply(dispatch: Dispatch) -> None:
    asker, owner = await dispatch.scene.account(), await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner, name="finder")
    request = await dispatch.scene.request(asker, ipaddr="203.0.113.9", proxied_account="them", jobs=2)
    generation = await dispatch.scene.generation(request, worker)
    dispatch.reports.fails_with = grpc.StatusCode.UNAVAILABLE
    await dispatch.reply(generation, owner, state="csam")
    await dispatch.settled()
    assert dispatch.reports.csam == {}
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.worker_reports") == 1

    dispatch.reports.fails_with = None
    await deliver_reports(dispatch.deps)
    (told,) = dispatch.reports.csam.values()
    assert (told.request_id, told.job_id, told.worker_id) == (str(request), str(generation), str(worker))
    assert (told.worker_name, told.account_id, told.proxied_account) == ("finder", asker.id, "them")
    assert (told.origin, list(told.models), told.effective_prompt) == ("203.0.113.9", [MODEL], "x" * 2048)
    assert not told.HasField("submitted_prompt")

    metadata = json.dumps([{"type": "censorship", "value": "csam"}]).encode()
    second = await dispatch.scene.generation(request, worker)
    await dispatch.reply(second, owner, gen_metadata=metadata)
    await dispatch.settled()
    assert set(dispatch.reports.csam) == {str(generation), str(second)}
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.worker_reports") == 0


async def test_of_a_long_prompt_moderation_is_told_what_it_keeps_and_that_there_was_more(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    request = await dispatch.scene.request(owner)
    await dispatch.scene.db.execute(
        "UPDATE dispatch.waiting_prompts SET prompt = repeat($1, 20000), submitted_prompt = repeat('y', 16000)",
        "\U0001f600",
    )
    await dispatch.reply(await dispatch.scene.generation(request, worker), owner, state="csam")
    await dispatch.settled()
    (told,) = dispatch.reports.csam.values()
    assert (told.submitted_prompt, told.effective_prompt) == ("y" * 16_000, "\U0001f600" * 16_001)


async def test_a_fake_a_censored_and_a_late_reply_report_nothing(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    request = await dispatch.scene.request(owner, jobs=3)
    await dispatch.reply(await dispatch.scene.generation(request, worker, fake=True), owner, state="csam")
    await dispatch.reply(await dispatch.scene.generation(request, worker), owner, state="censored")
    faulted = await dispatch.scene.generation(request, worker)
    await dispatch.fault(faulted, owner)
    with pytest.raises(Exception, match="aborted"):
        await dispatch.reply(faulted, owner, state="csam")
    await dispatch.settled()
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.worker_reports") == 0
    assert dispatch.reports.calls == 0


async def test_a_report_that_moderation_fails_on_keeps_no_other_waiting(dispatch: Dispatch) -> None:
    owner = await dispatch.scene.account()
    worker = await dispatch.scene.worker(owner)
    await dispatch.scene.db.execute(
        "SELECT dispatch.suspect_worker_v1($1, 9, i::text, now()) FROM generate_series(1, 3) AS i", worker
    )
    first = await dispatch.scene.db.fetchval("SELECT id FROM dispatch.worker_reports WHERE report ->> 'detail' = '1'")
    dispatch.reports.fails_with, dispatch.reports.failing = grpc.StatusCode.INTERNAL, {str(first)}
    await deliver_reports(dispatch.deps)
    assert sorted(told.detail for told in dispatch.reports.suspicions.values()) == ["2", "3"]
    assert await dispatch.scene.db.fetchval("SELECT id FROM dispatch.worker_reports") == first

    dispatch.reports.fails_with, dispatch.reports.failing = grpc.StatusCode.UNAVAILABLE, set()
    with pytest.raises(Outage):
        await deliver_reports(dispatch.deps)
    dispatch.reports.fails_with = None
    await asyncio.gather(*(deliver_reports(dispatch.deps) for _ in range(3)))
    assert len(dispatch.reports.suspicions) == 3
    assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.worker_reports") == 0


async def test_a_long_name_is_cut_and_suspicious_once(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1)
    for name, expected in (("n" * 100, []), ("m" * 101, [0]), ("o" * 201, [0, 1])):
        await pops.pop(owner, name)
        await pops.pop(owner, name)
        worker = await pops.world.worker(name[:100])
        rows = await pops.world.all(
            "SELECT suspicion_id FROM dispatch.worker_suspicions WHERE worker_id = $1 ORDER BY id", worker["id"]
        )
        assert [row["suspicion_id"] for row in rows] == expected
    of_owner = await pops.world.all("SELECT suspicion_id FROM admission.user_suspicions ORDER BY id")
    assert [row["suspicion_id"] for row in of_owner] == [0, 1]
