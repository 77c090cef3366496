"""Review over real gRPC: pages and their filters, notes, marks, the access log, the history of suspicions."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from horde.contract.ip_subject import ip_subject_key
from horde.contract.refusal import Refusal
from horde.rpc.client import NeighbourUnavailable
from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb

SECRET = "a secret"
REVIEWER = pb.Reviewer(account_id=9, address="9.9.9.9")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ADDRESS = "2001:db8::/64"


class Desk:
    """A moderator's desk: events that a test writes as it likes, and what the service says of them."""

    def __init__(self, moderation: Any) -> None:
        self.moderation = moderation
        self.sql = moderation.owner

    async def event(self, **columns: Any) -> int:
        row = {
            "reason": "model_rejection",
            "outcome": "rejected",
            "submitted_prompt": "a text",
            "text_sha256": "0" * 64,
            "text_chars": 6,
            **columns,
        }
        names = ", ".join(row)
        places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
        added = f"INSERT INTO moderation.moderation_events ({names}) VALUES ({places}) RETURNING id"  # noqa: S608 - a test's own names
        return int(await self.sql.fetchval(added, *row.values()))

    async def page(self, **asked: Any) -> pb.ListEventsResponse:
        request = pb.ListEventsRequest(**{"reviewer": REVIEWER, "limit": 50, **asked})
        answer: pb.ListEventsResponse = await self.call("ListEvents", request)
        return answer

    async def ids(self, **asked: Any) -> list[int]:
        return [event.id for event in (await self.page(**asked)).events]

    async def call(self, name: str, request: Any) -> Any:
        return await self.moderation.call(getattr(self.moderation.review, name), request)

    async def accesses(self) -> list[Any]:
        return [dict(row) for row in await self.sql.fetch("SELECT * FROM moderation.moderation_access_log ORDER BY id")]


@pytest.fixture
def desk(moderation: Any) -> Desk:
    return Desk(moderation)


def stamp(moment: datetime) -> Any:
    from google.protobuf.timestamp_pb2 import Timestamp

    made = Timestamp()
    made.FromDatetime(moment)
    return made


async def test_a_page_tells_every_field_but_the_job(desk: Desk) -> None:
    await desk.moderation.account("somebody")
    request, worker = uuid4(), uuid4()
    number = await desk.event(
        created=NOW,
        user_id=1,
        proxied_account="them",
        request_id=request,
        job_id=uuid4(),
        worker_id=worker,
        ipaddr="1.2.3.4",
        ip_subject_key=ip_subject_key("1.2.3.4", SECRET),
        models='["m"]',
        reason="worker_csam",
        outcome="censored",
        effective_prompt="what a worker got",
        text_truncated=True,
    )
    page = await desk.page()
    (event,) = page.events
    assert (event.id, event.user_id, event.username, event.proxied_account) == (number, 1, "somebody#1", "them")
    assert (event.request_id, event.worker_id, event.ipaddr) == (str(request), str(worker), "1.2.3.4")
    assert (list(event.models), event.text_state, event.submitted_prompt) == (["m"], "pending", "a text")
    assert (event.effective_prompt, event.text_truncated) == ("what a worker got", True)
    assert not event.HasField("moderation_prompt")
    assert not event.HasField("text_url")
    assert not event.HasField("hold_source")
    assert event.created.ToDatetime(UTC) == NOW
    assert (page.retention.HasField("text_days"), page.retention.ipaddr_days, page.retention.ceiling_days) == (
        False,
        30,
        365,
    )
    assert "job" not in str(event.DESCRIPTOR.fields_by_name.keys())


async def test_pages_go_backwards_and_the_cursor_is_the_last_id_while_there_are_more(desk: Desk) -> None:
    ids = [await desk.event(user_id=5) for _ in range(5)]
    ids.reverse()
    for asked in (
        {},
        {"user_id": 5},
        {"reasons": ["model_rejection"]},
        {"until": stamp(datetime.now(UTC) + timedelta(days=1))},
    ):
        first = await desk.page(limit=2, **asked)
        assert [event.id for event in first.events] == ids[:2]
        assert first.next_cursor == ids[1]
        second = await desk.page(limit=3, before_id=first.next_cursor, **asked)
        assert [event.id for event in second.events] == ids[2:]
        assert not second.HasField("next_cursor")
        assert await desk.ids(before_id=ids[-1], **asked) == []


async def test_filters_combine_and_reasons_are_any_of_them(desk: Desk) -> None:
    worker = uuid4()
    one = await desk.event(user_id=1, reason="filter_rejection")
    two = await desk.event(user_id=1, proxied_account="them")
    three = await desk.event(user_id=2, worker_id=worker, reason="worker_csam", outcome="censored")
    assert await desk.ids(reasons=["filter_rejection", "worker_csam"]) == [three, one]
    assert await desk.ids(user_id=1) == [two, one]
    assert await desk.ids(user_id=1, reasons=["model_rejection"]) == [two]
    assert await desk.ids(proxied_account="them") == [two]
    assert await desk.ids(worker_id=str(worker)) == [three]
    assert await desk.ids(event_id=one) == [one]
    assert await desk.ids(event_id=one, user_id=2) == []


async def test_a_reason_that_is_named_twice_gives_its_events_once(desk: Desk) -> None:
    one, two = [await desk.event(created=NOW, reason="filter_rejection") for _ in range(2)]
    other = await desk.event(created=NOW)
    twice = ["filter_rejection", "filter_rejection"]
    for asked in ({}, {"until": stamp(NOW + timedelta(days=1))}, {"unmarked": True}):
        assert await desk.ids(reasons=twice, **asked) == [two, one]
        assert await desk.ids(reasons=[*twice, "model_rejection", "worker_csam"], **asked) == [other, two, one]


async def test_since_is_inclusive_and_until_exclusive_whatever_the_order_of_ids(desk: Desk) -> None:
    moments = [NOW - timedelta(days=days) for days in (0, 400, 3, 90, 3)]
    ids = [
        await desk.event(created=moment, reason=reason)
        for moment, reason in zip(
            moments,
            ("model_rejection", "model_rejection", "filter_rejection", "model_rejection", "model_rejection"),
            strict=True,
        )
    ]
    third = stamp(NOW - timedelta(days=3))
    assert await desk.ids(since=third) == [ids[4], ids[2], ids[0]]
    assert await desk.ids(until=third) == [ids[3], ids[1]]
    assert await desk.ids(since=third, until=stamp(NOW)) == [ids[4], ids[2]]
    assert await desk.ids(since=third, reasons=["filter_rejection"]) == [ids[2]]
    assert await desk.ids(since=stamp(NOW + timedelta(days=1))) == []


async def test_an_address_finds_events_by_pseudonym_also_without_the_address(desk: Desk) -> None:
    key = ip_subject_key(ADDRESS, SECRET)
    keyed = await desk.event(ipaddr=ADDRESS, ip_subject_key=key)
    redacted = await desk.event(ip_subject_key=key, ipaddr_redacted=True)
    unkeyed = await desk.event(ipaddr=ADDRESS)
    await desk.event(ipaddr="1.2.3.4", ip_subject_key=ip_subject_key("1.2.3.4", SECRET))
    assert await desk.ids(address="2001:db8::5") == [unkeyed, redacted, keyed]
    assert await desk.ids(address="2001:db8::/80", limit=1) == [unkeyed]
    assert await desk.ids(ip_subject_key=key) == [redacted, keyed]
    assert await desk.ids(address="2001:db8::5", ip_subject_key=key) == [redacted, keyed]
    assert await desk.ids(address="2001:db8::5", ip_subject_key="f" * 64) == []


async def test_what_leaves_of_texts_is_logged_and_an_event_without_text_is_not(desk: Desk) -> None:
    await desk.event(text_state="none", submitted_prompt=None, text_sha256=None, text_chars=None)
    await desk.page()
    assert await desk.accesses() == []
    with_text = await desk.event(ipaddr="1.2.3.4", ip_subject_key=ip_subject_key("1.2.3.4", SECRET))
    await desk.page(address="1.2.3.4", filters=["ipaddr"])
    (line,) = await desk.accesses()
    assert (line["moderator_id"], line["action"], line["event_ids"]) == (9, "listed_inline", [with_text])
    assert (line["filter_names"], line["subject_key"]) == (["ipaddr"], ip_subject_key("1.2.3.4", SECRET))
    assert line["request_ip_key"] == ip_subject_key("9.9.9.9", SECRET)
    told = await desk.call("ListAccesses", policy_pb.ListAccessesRequest(limit=10, event_id=with_text))
    assert [(access.action, list(access.event_ids)) for access in told.accesses] == [("listed_inline", [with_text])]


async def test_no_text_leaves_when_the_log_cannot_be_written(desk: Desk) -> None:
    number = await desk.event()
    await desk.sql.execute("REVOKE INSERT ON moderation.moderation_access_log FROM horde_moderation")
    with pytest.raises(NeighbourUnavailable):
        await desk.page()
    await desk.sql.execute("GRANT INSERT ON moderation.moderation_access_log TO horde_moderation")
    assert await desk.ids() == [number]


async def test_a_note_is_written_in_the_reviewers_name_and_holds_the_event(desk: Desk) -> None:
    for name in ("a", "b"):
        await desk.moderation.account(name)
    number = await desk.event(user_id=1)
    writer = pb.Reviewer(account_id=2, address="9.9.9.9")
    made = (await desk.call("AddNote", pb.AddNoteRequest(reviewer=writer, event_id=number, note=" first\n"))).note
    assert (made.author_id, made.author, made.note) == (2, "b#2", " first\n")
    await desk.call("AddNote", pb.AddNoteRequest(reviewer=REVIEWER, event_id=number, note="second"))
    (event,) = (await desk.page()).events
    assert [note.note for note in event.notes] == [" first\n", "second"]
    assert [note.author for note in event.notes] == ["b#2", ""]
    assert event.hold_source == "note"
    assert [line["action"] for line in await desk.accesses()][:2] == ["noted", "noted"]
    with pytest.raises(Refusal) as caught:
        await desk.call("AddNote", pb.AddNoteRequest(reviewer=writer, event_id=4711, note="x"))
    assert caught.value.reason.key == "ModerationEventNotFound"


async def test_an_account_that_is_flagged_or_suspicious_holds_its_events_unless_it_is_trusted(desk: Desk) -> None:
    await desk.moderation.account("flagged", 3)
    await desk.moderation.account("suspicious")
    await desk.moderation.account("trusted", 1)
    for account in (2, 3):
        for _ in range(5):
            await desk.sql.execute(
                "INSERT INTO admission.user_suspicions (user_id, suspicion_id) VALUES ($1, 5)", account
            )
    for account in (1, 2, 3):
        await desk.event(user_id=account)
    holds = {event.user_id: event.hold_source for event in (await desk.page()).events}
    assert holds == {1: "account_status", 2: "account_status", 3: ""}


async def test_a_mark_holds_nothing_and_can_be_taken_back(desk: Desk) -> None:
    number, other = await desk.event(), await desk.event()

    async def mark(word: str, event: int = number) -> list[str]:
        request = pb.MarkEventRequest(reviewer=REVIEWER, event_id=event, mark=word)
        return [one.mark for one in (await desk.call("MarkEvent", request)).marks]

    assert await mark("seen") == ["seen"]
    assert await mark("dismissed") == ["dismissed"]
    assert await desk.ids(unmarked=True) == [other]
    (event, _) = sorted((await desk.page()).events, key=lambda one: one.id)
    assert [one.mark for one in event.marks] == ["dismissed"]
    assert not event.HasField("hold_source")
    assert await mark("") == []
    assert await desk.ids(unmarked=True) == [other, number]
    with pytest.raises(Refusal) as caught:
        await mark("seen", 4711)
    assert caught.value.reason.key == "ModerationEventNotFound"


async def test_the_history_of_suspicions_is_paged_and_filtered(desk: Desk) -> None:
    worker = uuid4()
    add = (
        "INSERT INTO moderation.worker_suspicion_events (worker_id, worker_name, user_id, suspicion_id, detail)"
        " VALUES ($1, 'w', $2, $3, 'why') RETURNING id"
    )
    first = await desk.sql.fetchval(add, worker, 1, 5)
    second = await desk.sql.fetchval(add, uuid4(), 1, 9)
    third = await desk.sql.fetchval(add, worker, 2, 5)

    async def ids(**asked: Any) -> list[int]:
        request = pb.ListSuspicionHistoryRequest(**{"limit": 100, **asked})
        return [event.id for event in (await desk.call("ListSuspicionHistory", request)).events]

    assert await ids() == [third, second, first]
    assert await ids(worker_id=str(worker)) == [third, first]
    assert await ids(user_id=1, before_id=second) == [first]
    page = await desk.call("ListSuspicionHistory", pb.ListSuspicionHistoryRequest(limit=1))
    assert page.next_cursor == third


async def test_the_policy_is_the_one_in_force(desk: Desk) -> None:
    told = await desk.call("GetRetentionPolicy", policy_pb.GetRetentionPolicyRequest())
    assert (told.HasField("text_days"), told.ipaddr_days, told.ceiling_days) == (False, 30, 365)
    assert (told.HasField("worker_suspicion_days"), told.access_log_days, told.has_pseudonyms) == (False, 365, True)
