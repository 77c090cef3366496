"""Review: between the proto and the words of the domain."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract.retention import RetentionPolicy
from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb
from services.moderation.rules.review import (
    Access,
    AccessQuery,
    EventQuery,
    HistoryQuery,
    Mark,
    Note,
    Page,
    RecordedEvent,
    Reviewer,
    SuspicionEvent,
)

_PLAIN = (
    "id",
    "reason",
    "outcome",
    "user_id",
    "username",
    "proxied_account",
    "ipaddr",
    "origin_text",
    "ip_subject_key",
    "models",
    "text_state",
    "submitted_prompt",
    "moderation_prompt",
    "effective_prompt",
    "text_sha256",
    "text_chars",
    "text_truncated",
    "text_redacted",
    "ipaddr_redacted",
    "anonymized",
    "hold_source",
)
"""Fields that proto and domain name and type alike."""


def reviewer(told: pb.Reviewer) -> Reviewer:
    """Who asks."""
    return Reviewer(told.account_id, told.address)


def query(request: pb.ListEventsRequest) -> EventQuery:
    """Which page of events."""
    return EventQuery(
        limit=request.limit,
        before_id=request.before_id if request.HasField("before_id") else None,
        event_id=request.event_id if request.HasField("event_id") else None,
        since=_moment(request.since) if request.HasField("since") else None,
        until=_moment(request.until) if request.HasField("until") else None,
        reasons=tuple(request.reasons),
        address=request.address,
        ip_subject_key=request.ip_subject_key if request.HasField("ip_subject_key") else None,
        user_id=request.user_id if request.HasField("user_id") else None,
        worker_id=UUID(request.worker_id) if request.HasField("worker_id") else None,
        proxied_account=request.proxied_account if request.HasField("proxied_account") else None,
        unmarked=request.unmarked,
        filters=tuple(request.filters),
    )


def history_query(request: pb.ListSuspicionHistoryRequest) -> HistoryQuery:
    """Which page of the history."""
    return HistoryQuery(
        limit=request.limit,
        before_id=request.before_id if request.HasField("before_id") else None,
        worker_id=UUID(request.worker_id) if request.HasField("worker_id") else None,
        user_id=request.user_id if request.HasField("user_id") else None,
    )


def access_query(request: policy_pb.ListAccessesRequest) -> AccessQuery:
    """Which page of the access log."""
    return AccessQuery(
        limit=request.limit,
        before_id=request.before_id if request.HasField("before_id") else None,
        moderator_id=request.moderator_id if request.HasField("moderator_id") else None,
        event_id=request.event_id if request.HasField("event_id") else None,
    )


def policy(known: RetentionPolicy, has_pseudonyms: bool) -> policy_pb.GetRetentionPolicyResponse:  # noqa: FBT001 - the pair that the handler gives
    """How long what is kept."""
    return policy_pb.GetRetentionPolicyResponse(
        text_days=known.text_days,
        ipaddr_days=known.ipaddr_days,
        ceiling_days=known.ceiling_days,
        worker_suspicion_days=known.worker_suspicion_days,
        access_log_days=known.access_log_days,
        has_pseudonyms=has_pseudonyms,
    )


def page(made: Page, retention: policy_pb.GetRetentionPolicyResponse) -> pb.ListEventsResponse:
    """One page."""
    told = pb.ListEventsResponse(retention=retention, next_cursor=made.next_cursor)
    told.events.extend(_event(event, made) for event in made.events)
    return told


def _event(event: RecordedEvent, made: Page) -> pb.RecordedEvent:
    return pb.RecordedEvent(
        **{name: getattr(event, name) for name in _PLAIN},
        created=_stamp(event.created),
        request_id=_text(event.request_id),
        worker_id=_text(event.worker_id),
        text_url=made.links.get(event.id),
        notes=[note(one) for one in made.notes.get(event.id, ())],
        marks=marks(made.marks.get(event.id, ())),
    )


def note(one: Note) -> pb.EventNote:
    """A note."""
    return pb.EventNote(
        id=one.id, author_id=one.author_id, author=one.author, note=one.note, created=_stamp(one.created)
    )


def marks(known: Iterable[Mark]) -> list[pb.EventMark]:
    """The marks of one event."""
    return [
        pb.EventMark(mark=one.mark, moderator_id=one.moderator_id, moderator=one.moderator, created=_stamp(one.created))
        for one in known
    ]


def history(events: Sequence[SuspicionEvent], next_cursor: int | None) -> pb.ListSuspicionHistoryResponse:
    """One page of the history of worker suspicions."""
    told = pb.ListSuspicionHistoryResponse(next_cursor=next_cursor)
    told.events.extend(
        pb.SuspicionEvent(
            id=event.id,
            created=_stamp(event.created),
            worker_id=str(event.worker_id),
            worker_name=event.worker_name,
            user_id=event.user_id,
            suspicion_id=event.suspicion_id,
            detail=event.detail,
        )
        for event in events
    )
    return told


def access_log(accesses: Sequence[Access], next_cursor: int | None) -> policy_pb.ListAccessesResponse:
    """One page of the access log."""
    told = policy_pb.ListAccessesResponse(next_cursor=next_cursor)
    told.accesses.extend(
        policy_pb.Access(
            id=access.id,
            created=_stamp(access.created),
            moderator_id=access.moderator_id,
            action=access.action,
            endpoint=access.endpoint,
            event_ids=access.event_ids,
            filter_names=access.filter_names,
            subject_key=access.subject_key,
        )
        for access in accesses
    )
    return told


def _moment(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(UTC)


def _stamp(moment: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(moment)
    return made


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
