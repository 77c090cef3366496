"""Proto and domain of progress, there and back."""

from collections.abc import Sequence

from horde.contract.refusal import Refusal
from horde.rpc import refusals
from horde_pb.progress.v1 import progress_service_pb2 as pb
from horde_pb.progress.v1 import watching_service_pb2 as watching
from services.progress.rules import feed
from services.progress.rules.deltas import Delta, Failed, Verdict
from services.progress.rules.leases import Lease


def lease(ask: pb.OpenLeaseRequest) -> Lease:
    """The lease to open."""
    return Lease(
        generation_id=ask.generation_id,
        request_id=ask.request_id,
        worker_id=ask.worker_id,
        model=ask.model,
        owner_id=ask.owner_id,
        key=ask.key,
        max_bytes=ask.max_bytes,
        is_fake=ask.fake,
        started=ask.started,
        job_ttl_seconds=ask.job_ttl_seconds,
        lease_cap_seconds=ask.lease_cap_seconds,
        is_trusted=ask.trusted,
    )


def delta(ask: pb.AppendProgressRequest) -> Delta:
    """The post to judge."""
    return Delta(ask.generation_id, ask.seq, ask.content, ask.reasoning_content)


def accepted(verdict: Verdict) -> pb.AppendProgressResponse:
    """The answer to an accepted post."""
    return pb.AppendProgressResponse(accepted_seq=verdict.seq, cancelled=verdict.is_cancelled)


def accepted_together(outcomes: Sequence[Verdict | Refusal | Failed]) -> pb.AppendTogetherResponse:
    """The answers to posts that came together."""
    return pb.AppendTogetherResponse(answers=[_appended(outcome) for outcome in outcomes])


def _appended(outcome: Verdict | Refusal | Failed) -> pb.Appended:
    match outcome:
        case Verdict():
            return pb.Appended(accepted=accepted(outcome))
        case Refusal():
            return pb.Appended(refused=refusals.packed(outcome))
        case Failed():
            return pb.Appended(failed=outcome.why)


def posted(answers: Sequence[feed.Posted]) -> pb.ReadPostedResponse:
    """What a cancel is settled on."""
    return pb.ReadPostedResponse(
        posted=[
            pb.Posted(
                generation_id=one.generation_id, content_characters=one.characters, accepted_bytes=one.accepted_bytes
            )
            for one in answers
        ]
    )


def signals(ask: pb.PublishEventsRequest) -> list[feed.Signal]:
    """The signals to publish."""
    return [
        feed.Signal(
            one.event,
            one.generations,
            one.fault_reason if one.HasField("fault_reason") else None,
            one.fault_rc if one.HasField("fault_rc") else None,
        )
        for one in ask.signals
    ]


def event(seen: feed.Event) -> pb.WatchRequestResponse:
    """One message to a watcher."""
    match seen:
        case feed.Piece():
            return pb.WatchRequestResponse(
                delta=pb.Delta(
                    generation_id=seen.generation_id,
                    seq=seen.seq,
                    content=seen.content,
                    reasoning_content=seen.reasoning_content,
                    worker_id=seen.worker_id,
                    model=seen.model,
                )
            )
        case feed.Ended():
            return pb.WatchRequestResponse(ended=pb.Ended(generation_id=seen.generation_id))
        case feed.Signal():
            return pb.WatchRequestResponse(
                signal=pb.Signal(
                    event=seen.event,
                    generations=seen.generations,
                    fault_reason=seen.fault_reason,
                    fault_rc=seen.fault_rc,
                )
            )
        case feed.Subscribed():
            return pb.WatchRequestResponse(subscribed=pb.Subscribed())


def changes(ask: watching.WatchRequestsRequest) -> feed.Changes:
    """Watches that are begun and ended."""
    return feed.Changes([(one.watch, one.request_id) for one in ask.begin], list(ask.end))


def told(found: Sequence[feed.Told]) -> watching.WatchRequestsResponse:
    """What watches found."""
    return watching.WatchRequestsResponse(watched=[_watched(number, what) for number, what in found])


def _watched(number: int, what: feed.Event | feed.Lost) -> watching.Watched:
    if isinstance(what, feed.Lost):
        return watching.Watched(watch=number, failed=what.why)
    return watching.Watched(watch=number, event=event(what))
