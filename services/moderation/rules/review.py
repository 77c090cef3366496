"""What moderators ask for and are shown, and what of it the access log has to say. moderation.md A8, B4.3."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from horde.contract.ip_subject import ip_subject, ip_subject_key

ALL_REASONS = ("filter_rejection", "model_rejection", "worker_csam")
"""moderation.md A1.1; the table takes no other."""


class Action(StrEnum):
    """What the access log says was done."""

    LISTED_INLINE = "listed_inline"
    LINK_ISSUED = "link_issued"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who reads or writes. The address is never stored, only its pseudonym."""

    account_id: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """One page of events. Filters combine with AND; reasons with OR. None and empty filter nothing."""

    limit: int
    before_id: int | None = None
    event_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    reasons: Sequence[str] = ()
    address: str = ""
    ip_subject_key: str | None = None
    user_id: int | None = None
    worker_id: UUID | None = None
    proxied_account: str | None = None
    unmarked: bool = False
    filters: Sequence[str] = ()

    @property
    def has_times(self) -> bool:
        """Whether only events of some time are wanted."""
        return self.since is not None or self.until is not None

    @property
    def names_a_subject(self) -> bool:
        """Whether a filter with an index of its own is used, which finds few events."""
        subjects = (self.event_id, self.user_id, self.proxied_account, self.worker_id, self.ip_subject_key)
        return any(subject is not None for subject in subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """One page of the history of worker suspicions."""

    limit: int
    before_id: int | None = None
    worker_id: UUID | None = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessQuery:
    """One page of the access log."""

    limit: int
    before_id: int | None = None
    moderator_id: int | None = None
    event_id: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A moderator's note."""

    id: int
    author_id: int
    author: str
    note: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Mark:
    """What one moderator made of an event."""

    mark: str
    moderator_id: int
    moderator: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """One event as moderators see it. A field that is not named here is shown to nobody."""

    id: int
    created: datetime
    reason: str
    outcome: str
    user_id: int | None
    username: str | None
    proxied_account: str | None
    request_id: UUID | None
    worker_id: UUID | None
    ipaddr: str | None
    origin_text: str | None
    ip_subject_key: str | None
    models: Sequence[str]
    text_state: str
    submitted_prompt: str | None
    moderation_prompt: str | None
    effective_prompt: str | None
    text_sha256: str | None
    text_chars: int | None
    text_truncated: bool
    text_redacted: bool
    ipaddr_redacted: bool
    anonymized: bool
    hold_source: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `links` holds a link for each event whose text lies in the evidence store."""

    events: Sequence[RecordedEvent]
    notes: Mapping[int, Sequence[Note]]
    marks: Mapping[int, Sequence[Mark]]
    next_cursor: int | None
    links: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuspicionEvent:
    """One line of the history of worker suspicions."""

    id: int
    created: datetime
    worker_id: UUID
    worker_name: str
    user_id: int
    suspicion_id: int
    detail: str


@dataclass(frozen=True, slots=True)
class Access:
    """One line of the access log."""

    id: int
    created: datetime
    moderator_id: int
    action: str
    endpoint: str
    event_ids: Sequence[int]
    filter_names: Sequence[str]
    subject_key: str | None


def cut[T](rows: Sequence[T], limit: int, ids: Sequence[int]) -> tuple[Sequence[T], int | None]:
    """The rows of a page of which one more was read, and its cursor: the last id shown, None on the last page."""
    return (rows, None) if len(rows) <= limit else (rows[:limit], ids[limit - 1])


def accesses(events: Sequence[RecordedEvent], *, has_store: bool) -> Iterator[tuple[Action, list[int]]]:
    """What has to be logged before these events may leave: whose text is in the answer, and whose is behind a link."""
    inline = [event.id for event in events if event.text_state == "pending"]
    linked = [event.id for event in events if event.text_state == "stored"] if has_store else []
    if inline:
        yield Action.LISTED_INLINE, inline
    if linked:
        yield Action.LINK_ISSUED, linked


def pseudonym(address: str, secret: str | None) -> str | None:
    """The pseudonym of an address; None without a subject or a real secret."""
    return ip_subject_key(ip_subject(address), secret)
