"""AppendProgress: every row of the reference's table, the caps, and the lease that grows."""

import uuid
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY

from horde.contract import limits, reasons
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch_pb
from tests.fakes.progress_service import Progress, a_lease, a_post, request_of


async def entries(progress: Progress, request_id: str) -> list[dict[bytes, bytes]]:
    return [fields for _, fields in await progress.redis.xrange(f"horde:chat:stream:{request_id}")]


async def test_posts_are_appended_in_order_with_every_field_a_reader_needs(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    first = await progress.stub.AppendProgress(a_post(lease, 1, "Hel"))
    second = await progress.stub.AppendProgress(a_post(lease, 2, "lo", reasoning_content="hm"))
    assert (first.accepted_seq, first.cancelled, second.accepted_seq) == (1, False, 2)
    common = {b"gen": lease.generation_id.encode(), b"worker": lease.worker_id.encode(), b"model": b"a model"}
    assert await entries(progress, lease.request_id) == [
        {**common, b"seq": b"1", b"content": b"Hel"},
        {**common, b"seq": b"2", b"content": b"lo", b"reasoning_content": b"hm"},
    ]
    assert 895 < await progress.redis.ttl(f"horde:chat:stream:{lease.request_id}") <= 900


async def test_a_lease_without_a_model_gives_entries_without_one(progress: Progress) -> None:
    lease = a_lease(model="")
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "x"))
    assert b"model" not in (await entries(progress, lease.request_id))[0]
    assert await progress.redis.hget(f"horde:chat:lease:{lease.generation_id}", "model") is None


async def test_a_repeat_of_the_last_post_is_answered_and_appends_nothing(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    for _ in range(3):
        assert (await progress.stub.AppendProgress(a_post(lease, 1, "x", reasoning_content="y"))).accepted_seq == 1
    assert len(await entries(progress, lease.request_id)) == 1


@pytest.mark.parametrize("seq", [1, 3, 2**62])
async def test_a_seq_that_is_not_the_next_one_is_told_which_is_expected(progress: Progress, seq: int) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "x"))
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, seq, "other")))
    assert refusal.reason is reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE
    assert refusal.facts == {"expected_seq": 2}


async def test_a_post_without_text_is_a_bad_request(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, 1, "")))
    assert refusal.reason is reasons.BAD_REQUEST


@pytest.mark.parametrize("seq", [0, -1, 2**63 - 1])
async def test_any_other_number_than_one_is_not_the_first(progress: Progress, seq: int) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, seq, "")))
    assert refusal.reason is reasons.BAD_REQUEST
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, seq, "x")))
    assert (refusal.reason, refusal.facts) == (reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE, {"expected_seq": 1})


async def test_only_the_key_of_the_workers_owner_may_post(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, 1, "x", api_key="another")))
    assert refusal.reason is reasons.WRONG_CREDENTIALS
    assert await entries(progress, lease.request_id) == []


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (dispatch_pb.GENERATION_STATE_FAULTED, reasons.CHAT_JOB_ABORTED),
        (dispatch_pb.GENERATION_STATE_UNKNOWN, reasons.CHAT_JOB_ABORTED),
        (dispatch_pb.GENERATION_STATE_PENDING, reasons.CHAT_PROGRESS_NOT_STREAMING),
        (dispatch_pb.GENERATION_STATE_FINISHED, reasons.CHAT_PROGRESS_NOT_STREAMING),
    ],
)
async def test_a_post_without_a_lease_learns_from_dispatch_whether_to_go_on(
    progress: Progress, state: dispatch_pb.GenerationState, reason: reasons.Reason
) -> None:
    lease = a_lease()
    progress.dispatch.states[lease.generation_id] = state
    assert (await progress.refusal(progress.stub.AppendProgress(a_post(lease, 1, "x")))).reason is reason


async def test_an_id_that_is_no_uuid_names_no_generation(progress: Progress) -> None:
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(a_lease(generation_id="../x"), 1, "x")))
    assert refusal.reason is reasons.CHAT_JOB_ABORTED


async def test_the_byte_cap_may_be_reached_and_not_passed_and_a_repeat_at_it_is_answered(progress: Progress) -> None:
    lease = a_lease(max_bytes=6)
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "é", reasoning_content="äö"))
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, 2, "x")))
    assert refusal.reason is reasons.CHAT_PROGRESS_CAP_REACHED
    again = await progress.stub.AppendProgress(a_post(lease, 1, "é", reasoning_content="äö"))
    assert again.accepted_seq == 1


async def test_the_entry_cap_may_be_reached_and_not_passed(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.redis.hset(f"horde:chat:lease:{lease.generation_id}", "seq", limits.MAX_CHAT_PROGRESS_ENTRIES - 1)
    last = limits.MAX_CHAT_PROGRESS_ENTRIES
    assert (await progress.stub.AppendProgress(a_post(lease, last, "x"))).accepted_seq == last
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, last + 1, "x")))
    assert refusal.reason is reasons.CHAT_PROGRESS_CAP_REACHED


async def test_a_fake_generation_is_answered_as_a_real_one_and_not_appended(progress: Progress) -> None:
    lease = a_lease(fake=True, max_bytes=2)
    await progress.stub.OpenLease(lease)
    assert (await progress.stub.AppendProgress(a_post(lease, 1, "x"))).accepted_seq == 1
    assert (await progress.stub.AppendProgress(a_post(lease, 1, "x"))).accepted_seq == 1
    refusal = await progress.refusal(progress.stub.AppendProgress(a_post(lease, 2, "xx")))
    assert refusal.reason is reasons.CHAT_PROGRESS_CAP_REACHED
    assert await entries(progress, lease.request_id) == []
    assert progress.dispatch.renewals == []


async def test_nul_becomes_the_replacement_character_as_in_the_stored_reply(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "a\0b"))
    assert (await entries(progress, lease.request_id))[0][b"content"].decode() == "a\ufffdb"


async def test_a_post_lengthens_the_lease_to_150_seconds_after_it_rounded_up_and_never_beyond_the_cap(
    progress: Progress,
) -> None:
    lease = a_lease()
    key = f"horde:chat:lease:{lease.generation_id}"
    await progress.stub.OpenLease(lease)
    assert 239 <= await progress.redis.ttl(key) <= 240
    renewed = []
    for seq, pause in enumerate((10.2, 0.3, 0.6, 60.0, 60.0), 1):
        progress.clock.advance(timedelta(seconds=pause))
        await progress.stub.AppendProgress(a_post(lease, seq, "x"))
        renewed.append(int(await progress.redis.hget(key, "job_ttl") or 0))
    # Posts at 10.2, 10.5, 11.1, 71.1 and 131.1 seconds.
    assert renewed == [161, 161, 162, 200, 200]
    assert progress.dispatch.renewals == [(lease.generation_id, ttl) for ttl in (161, 162, 200)]
    # The last extension came 71.1 s after the pop: 200 + 90 - 71.1.
    assert 217 <= await progress.redis.ttl(key) <= 219


async def test_neither_a_repeat_nor_a_post_after_the_lapse_nor_after_the_cancel_lengthens_the_lease(
    progress: Progress,
) -> None:
    repeated, lapsed, cancelled = a_lease(), a_lease(), a_lease()
    for lease in (repeated, lapsed, cancelled):
        await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(repeated, 1, "x"))
    await progress.stub.CancelLeases(request_of(cancelled))
    progress.clock.advance(timedelta(seconds=20))
    await progress.stub.AppendProgress(a_post(repeated, 1, "x"))
    answer = await progress.stub.AppendProgress(a_post(cancelled, 1, "x"))
    assert answer.cancelled
    assert len(await entries(progress, cancelled.request_id)) == 2
    progress.clock.advance(timedelta(seconds=130.5))
    await progress.stub.AppendProgress(a_post(lapsed, 1, "x"))
    assert progress.dispatch.renewals == []


async def test_a_renewal_that_dispatch_cannot_take_does_not_refuse_the_post(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    progress.dispatch.is_broken = True
    progress.clock.advance(timedelta(seconds=5))
    assert (await progress.stub.AppendProgress(a_post(lease, 1, "x"))).accepted_seq == 1
    assert await progress.redis.hget(f"horde:chat:lease:{lease.generation_id}", "job_ttl") == b"155"


async def test_a_generation_id_in_capitals_is_the_same_generation(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    shouted = a_post(lease, 1, "x", generation_id=str(uuid.UUID(lease.generation_id)).upper())
    assert (await progress.stub.AppendProgress(shouted)).accepted_seq == 1


async def test_a_redis_that_forgot_the_script_is_taught_it_again(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.redis.script_flush()
    assert (await progress.stub.AppendProgress(a_post(lease, 1, "x"))).accepted_seq == 1


async def test_posts_make_counters_whose_labels_are_no_ids(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    name, labels = "horde_text_lease_renewals_total", {"outcome": "granted", "worker_trusted": "false"}
    before = REGISTRY.get_sample_value(name, labels) or 0.0
    progress.clock.advance(timedelta(seconds=5))
    await progress.stub.AppendProgress(a_post(lease, 1, "x"))
    assert REGISTRY.get_sample_value(name, labels) == before + 1
