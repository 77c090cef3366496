"""OpenLease, CloseLease, CancelLeases and ReadPosted."""

import asyncio
import uuid

from horde_pb.progress.v1 import progress_service_pb2 as pb
from tests.fakes.progress_service import STARTED, Progress, a_lease, a_post, request_of


def close_of(lease: pb.OpenLeaseRequest, *, ended: bool) -> pb.CloseLeaseRequest:
    return pb.CloseLeaseRequest(generation_id=lease.generation_id, request_id=lease.request_id, ended=ended)


def posted_of(*leases: pb.OpenLeaseRequest) -> pb.ReadPostedRequest:
    return pb.ReadPostedRequest(
        request_id=leases[0].request_id, generation_ids=[lease.generation_id for lease in leases]
    )


async def ended(progress: Progress, request_id: str) -> list[str]:
    entries = await progress.redis.xrange(f"horde:chat:stream:{request_id}")
    return [fields[b"gen"].decode() for _, fields in entries if fields.get(b"ended") == b"1"]


async def test_a_lease_holds_every_field_of_the_reference_on_the_signal_database(progress: Progress) -> None:
    lease = a_lease(trusted=True, started=STARTED + 0.25)
    await progress.stub.OpenLease(lease)
    written = await progress.redis.hgetall(f"horde:chat:lease:{lease.generation_id}")
    assert {name.decode(): value.decode() for name, value in written.items()} == {
        "request": lease.request_id,
        "worker": lease.worker_id,
        "model": "a model",
        "owner": "7",
        "key": lease.key,
        "max_bytes": "8192",
        "fake": "0",
        "started": str(STARTED + 0.25),
        "job_ttl": "150",
        "lease_cap": "200",
        "trusted": "1",
    }
    assert progress.redis.connection_pool.connection_kwargs["db"] == 7


async def test_opening_a_lease_twice_leaves_one_that_remembers_what_was_accepted(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "x"))
    await progress.stub.OpenLease(lease)
    assert (await progress.stub.AppendProgress(a_post(lease, 2, "y"))).accepted_seq == 2


async def test_a_submit_closes_the_lease_and_leaves_the_stream(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)
    await progress.stub.AppendProgress(a_post(lease, 1, "x"))
    for _ in range(2):
        await progress.stub.CloseLease(close_of(lease, ended=False))
    assert await progress.redis.exists(f"horde:chat:lease:{lease.generation_id}") == 0
    assert await progress.redis.xlen(f"horde:chat:stream:{lease.request_id}") == 1


async def test_a_fault_ends_the_generations_stream_once(progress: Progress) -> None:
    lease, fake = a_lease(), a_lease(fake=True)
    for one in (lease, fake):
        await progress.stub.OpenLease(one)
        for _ in range(2):
            await progress.stub.CloseLease(close_of(one, ended=True))
    assert await ended(progress, lease.request_id) == [lease.generation_id]
    assert await progress.redis.ttl(f"horde:chat:stream:{lease.request_id}") > 890
    assert await ended(progress, fake.request_id) == []


async def test_a_generation_without_a_lease_gets_no_ended_entry(progress: Progress) -> None:
    lease = a_lease()
    await progress.stub.CloseLease(close_of(lease, ended=True))
    await progress.stub.CancelLeases(request_of(lease))
    assert await progress.redis.exists(f"horde:chat:stream:{lease.request_id}") == 0
    assert await progress.redis.exists(f"horde:chat:lease:{lease.generation_id}") == 0


async def test_a_cancel_flags_every_lease_and_ends_all_but_fakes_once(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    real, other = a_lease(request_id=request_id), a_lease(request_id=request_id)
    fake, gone = a_lease(request_id=request_id, fake=True), a_lease(request_id=request_id)
    for lease in (real, other, fake):
        await progress.stub.OpenLease(lease)
    for _ in range(2):
        await progress.stub.CancelLeases(request_of(real, gone, fake, other))
    assert await ended(progress, request_id) == [real.generation_id, other.generation_id]
    for lease in (real, fake):
        assert (await progress.stub.AppendProgress(a_post(lease, 1, "x"))).cancelled
    await progress.stub.CancelLeases(pb.CancelLeasesRequest(request_id=request_id))


async def test_what_was_posted_is_counted_in_characters_of_content(progress: Progress) -> None:
    request_id = str(uuid.uuid4())
    lease, silent = a_lease(request_id=request_id), a_lease(request_id=request_id)
    for one in (lease, silent):
        await progress.stub.OpenLease(one)
    await progress.stub.AppendProgress(a_post(lease, 1, "añ😀", reasoning_content="not counted"))
    await progress.stub.AppendProgress(a_post(lease, 2, "b"))
    answer = await progress.stub.ReadPosted(posted_of(lease, silent))
    assert [(one.content_characters, one.accepted_bytes) for one in answer.posted] == [(4, 19), (0, 0)]
    assert [one.generation_id for one in answer.posted] == [lease.generation_id, silent.generation_id]


async def test_when_the_stream_lost_entries_the_accepted_bytes_stand_in(progress: Progress) -> None:
    lease, unknown = a_lease(), a_lease()
    await progress.stub.OpenLease(lease)
    for seq in (1, 2):
        await progress.stub.AppendProgress(a_post(lease, seq, "añ"))
    await progress.redis.xtrim(f"horde:chat:stream:{lease.request_id}", maxlen=1, approximate=False)
    (one,) = (await progress.stub.ReadPosted(posted_of(lease))).posted
    assert (one.HasField("content_characters"), one.accepted_bytes) == (False, 6)
    (other,) = (await progress.stub.ReadPosted(posted_of(unknown))).posted
    assert (other.HasField("content_characters"), other.accepted_bytes) == (False, 0)


async def test_of_sixty_four_posters_of_one_generation_exactly_one_is_accepted_for_each_seq(
    progress: Progress,
) -> None:
    lease = a_lease()
    await progress.stub.OpenLease(lease)

    async def poster(number: int) -> int:
        accepted = 0
        for seq in range(1, 11):
            try:
                await progress.stub.AppendProgress(a_post(lease, seq, f"[{number}:{seq}]"))
                accepted += 1
            except Exception:  # noqa: BLE001 - most of them are refused: that is the point
                await asyncio.sleep(0)
        return accepted

    accepted = await asyncio.gather(*(poster(number) for number in range(64)))
    entries = await progress.redis.xrange(f"horde:chat:stream:{lease.request_id}")
    assert [int(fields[b"seq"]) for _, fields in entries] == list(range(1, len(entries) + 1))
    assert sum(accepted) == len(entries) >= 1
