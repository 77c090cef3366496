"""Review as moderators ask for it: recorded events, notes, marks, suspicion history, access log. moderation.md A8."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import orjson
from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import reasons
from horde.contract.ip_subject import ip_subject
from horde.contract.refusal import Refusal
from horde.contract.suspicions import CATALOGUE
from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb
from services.gateway.answers import Answer
from services.gateway.wire.fields import MAX_INT64
from services.gateway.wire.operations import Parameters, one_of

_REASONS = ("filter_rejection", "model_rejection", "worker_csam")
_MARKS = ("seen", "dismissed", "none")
_PSEUDONYM = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9]{1,19}")
_LONGEST_ACCOUNT = 255
_LONGEST_NOTE = 2000
_FILTERS = (
    "event_id",
    "since",
    "until",
    "reason",
    "ipaddr",
    "ip_subject_key",
    "user_id",
    "worker_id",
    "proxied_account",
    "unmarked",
)
_EVENT_FIELDS = (
    "id",
    "reason",
    "outcome",
    "user_id",
    "username",
    "proxied_account",
    "request_id",
    "worker_id",
    "ipaddr",
    "origin_text",
    "ip_subject_key",
    "text_state",
    "submitted_prompt",
    "moderation_prompt",
    "effective_prompt",
    "text_url",
    "text_sha256",
    "text_chars",
    "text_truncated",
    "text_redacted",
    "ipaddr_redacted",
    "anonymized",
    "hold_source",
)
_FLAGS = frozenset({"text_truncated", "text_redacted", "ipaddr_redacted", "anonymized"})
"""What is told of an event besides its lists and times. The internal job id is told to nobody."""

MAX_PAGE, MAX_HISTORY_PAGE = 100, 500
"""Rows of a page of events, and of the other lists. Moderation operations reference."""


def events_request(query: Parameters, reviewer: pb.Reviewer) -> pb.ListEventsRequest:
    """The message that asks for a page. Checks in the order of A8.1; raises the first Refusal."""
    limit = query.limit(default=50, most=MAX_PAGE)
    before_id = query.cursor()
    event_id = query.whole("event_id", 1, MAX_INT64, reasons.INVALID_MODERATION_EVENT_ID)
    since, until = query.times()
    wanted = [one_of(one, _REASONS, "reason", reasons.INVALID_MODERATION_REASON) for one in query.all("reason")]
    address = _address(query)
    key = query.text("ip_subject_key")
    if key is not None and _PSEUDONYM.fullmatch(key) is None:
        raise _no_subject("'ip_subject_key' has to be 64 lower-case hex digits.")
    return pb.ListEventsRequest(
        reviewer=reviewer,
        limit=limit,
        before_id=before_id,
        event_id=event_id,
        since=_stamp(since),
        until=_stamp(until),
        reasons=wanted,
        address=address,
        ip_subject_key=key,
        user_id=query.user_id(),
        worker_id=query.worker_id(),
        proxied_account=_proxied_account(query),
        unmarked=query.flag("unmarked") or False,
        filters=query.names(_FILTERS),
    )


def _address(query: Parameters) -> str:
    text = (query.text("ipaddr") or "").strip()
    if text and ip_subject(text) is None:
        raise _no_subject("'ipaddr' has to be an address, or an IPv6 network of /64 or narrower.")
    return text


def _no_subject(message: str) -> Refusal:
    return Refusal(reasons.INVALID_MODERATION_ADDRESS_FILTER, message)


def _proxied_account(query: Parameters) -> str | None:
    text = query.text("proxied_account")
    if text is not None and (len(text) > _LONGEST_ACCOUNT or "\0" in text):
        message = f"'proxied_account' has at most {_LONGEST_ACCOUNT} characters, none of them NUL."
        raise Refusal(reasons.INVALID_PROXIED_ACCOUNT, message)
    return text or None


def note_request(body: object, event: str, reviewer: pb.Reviewer) -> pb.AddNoteRequest:
    """The message of a new note. Raises Refusal(InvalidModerationNote, ModerationEventNotFound)."""
    note = body.get("note") if isinstance(body, Mapping) else None
    if not isinstance(note, str) or not 1 <= len(note) <= _LONGEST_NOTE or not note.strip() or "\0" in note:
        raise invalid_note()
    return pb.AddNoteRequest(reviewer=reviewer, event_id=event_number(event), note=note)


def invalid_note() -> Refusal:
    """What is no note."""
    message = f"'note' has to be a text of 1 to {_LONGEST_NOTE} characters that is not blank and holds no NUL."
    return Refusal(reasons.INVALID_MODERATION_NOTE, message)


def mark_request(body: Mapping[str, object], event: str, reviewer: pb.Reviewer) -> pb.MarkEventRequest:
    """The message that marks an event. Raises Refusal(InvalidModerationMark, ModerationEventNotFound)."""
    mark = one_of(str(body.get("mark")), _MARKS, "mark", reasons.INVALID_MODERATION_MARK)
    return pb.MarkEventRequest(reviewer=reviewer, event_id=event_number(event), mark="" if mark == _MARKS[-1] else mark)


def event_number(text: str) -> int:
    """An event's number out of a path. Raises Refusal(ModerationEventNotFound) for what cannot be one."""
    number = int(text) if _ID.fullmatch(text) else 0
    if not 1 <= number <= MAX_INT64:
        raise Refusal(reasons.MODERATION_EVENT_NOT_FOUND, "There is no such moderation event.")
    return number


def history_request(query: Parameters) -> pb.ListSuspicionHistoryRequest:
    """The message that asks for a page of the history. Raises the first Refusal."""
    return pb.ListSuspicionHistoryRequest(
        limit=query.limit(default=100, most=MAX_HISTORY_PAGE),
        before_id=query.cursor(),
        worker_id=query.worker_id(),
        user_id=query.user_id(),
    )


def access_request(query: Parameters) -> policy_pb.ListAccessesRequest:
    """The message that asks for a page of the access log. Raises the first Refusal."""
    return policy_pb.ListAccessesRequest(
        limit=query.limit(default=100, most=MAX_HISTORY_PAGE),
        before_id=query.cursor(),
        event_id=query.whole("event_id", 1, MAX_INT64, reasons.INVALID_MODERATION_EVENT_ID),
        moderator_id=query.user_id("moderator_id"),
    )


def policy_request() -> policy_pb.GetRetentionPolicyRequest:
    """The message that asks for the policy of retention."""
    return policy_pb.GetRetentionPolicyRequest()


def preview_request(query: Parameters) -> policy_pb.PreviewRetentionRequest:
    """The message that asks what a pass would remove. Moderation reads the windows as an operator writes them."""
    return policy_pb.PreviewRetentionRequest(
        text_days=query.text("text_days"),
        ipaddr_days=query.text("ipaddr_days"),
        ceiling_days=query.text("ceiling_days"),
    )


def events_answer(page: pb.ListEventsResponse) -> Answer:
    """One page of events."""
    value = {
        "events": [_event(event) for event in page.events],
        "next_cursor": page.next_cursor if page.HasField("next_cursor") else None,
        "retention": _windows(page.retention),
    }
    return Answer(orjson.dumps(value))


def _windows(kept: policy_pb.GetRetentionPolicyResponse) -> dict[str, object]:
    return {
        "text_days": kept.text_days if kept.HasField("text_days") else None,
        "ipaddr_days": kept.ipaddr_days if kept.HasField("ipaddr_days") else None,
        "ceiling_days": kept.ceiling_days,
    }


def preview_answer(made: policy_pb.PreviewRetentionResponse) -> Answer:
    """What a pass would remove, step by step, and the windows it was asked for."""
    steps = [
        {
            "step": one.step,
            "due_now": one.due_now,
            "due_in_7_days": one.due_in_7_days,
            "due_in_30_days": one.due_in_30_days,
            "held": {"note": one.held_by_note, "account_status": one.held_by_account_status},
            "waiting_on_store": one.waiting_on_store,
        }
        for one in made.steps
    ]
    return Answer(orjson.dumps({"steps": steps, "retention": _windows(made.retention)}))


def _event(event: pb.RecordedEvent) -> dict[str, object]:
    given = {field.name: value for field, value in event.ListFields()}
    # What is false or empty is not listed; what may be absent is null.
    told = {name: given.get(name, False if name in _FLAGS else None) for name in _EVENT_FIELDS}
    told["created"] = utc(event.created)
    told["models"] = list(event.models)
    told["notes"] = [_note(note) for note in event.notes]
    told["marks"] = [_mark(mark) for mark in event.marks]
    return told


def _note(note: pb.EventNote) -> dict[str, object]:
    return {
        "id": note.id,
        "note": note.note,
        "created": utc(note.created),
        "author_id": note.author_id,
        "reviewer": {"id": note.author_id, "username": note.author or None},
    }


def _mark(mark: pb.EventMark) -> dict[str, object]:
    who = {"id": mark.moderator_id, "username": mark.moderator or None}
    return {"mark": mark.mark, "created": utc(mark.created), "reviewer": who}


def note_answer(made: pb.AddNoteResponse, event_id: int) -> Answer:
    """A note that was written."""
    return Answer(orjson.dumps({**_note(made.note), "event_id": event_id}), 201)


def mark_answer(marked: pb.MarkEventResponse, event_id: int) -> Answer:
    """All marks of an event."""
    return Answer(orjson.dumps({"event_id": event_id, "marks": [_mark(mark) for mark in marked.marks]}))


def history_answer(page: pb.ListSuspicionHistoryResponse) -> Answer:
    """One page of the history; a reason that left the catalogue has no name."""
    events = [
        {
            "id": event.id,
            "created": utc(event.created),
            "worker_id": event.worker_id,
            "worker_name": event.worker_name,
            "user_id": event.user_id,
            "suspicion_id": event.suspicion_id,
            "reason": CATALOGUE[event.suspicion_id].name if event.suspicion_id in CATALOGUE else None,
            "detail": event.detail,
        }
        for event in page.events
    ]
    return Answer(
        orjson.dumps({"events": events, "next_cursor": page.next_cursor if page.HasField("next_cursor") else None})
    )


def access_answer(page: policy_pb.ListAccessesResponse) -> Answer:
    """One page of the access log."""
    accesses = [
        {
            "id": access.id,
            "created": utc(access.created),
            "moderator_id": access.moderator_id,
            "action": access.action,
            "endpoint": access.endpoint,
            "event_ids": list(access.event_ids),
            "filter_names": list(access.filter_names),
            "subject_key": access.subject_key if access.HasField("subject_key") else None,
        }
        for access in page.accesses
    ]
    return Answer(
        orjson.dumps({"accesses": accesses, "next_cursor": page.next_cursor if page.HasField("next_cursor") else None})
    )


def utc(stamp: Timestamp) -> str:
    """ISO 8601 in UTC with its offset."""
    return stamp.ToDatetime(UTC).isoformat()


def _stamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    made = Timestamp()
    made.FromDatetime(moment)
    return made
