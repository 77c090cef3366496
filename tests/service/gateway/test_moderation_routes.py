"""The moderators' routes: who may, what is checked in which order, and how answers are told."""

import json
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde_pb.admission.v1 import account_details_pb2 as accounts_pb
from horde_pb.admission.v1 import accounts_service_pb2 as admission_pb
from horde_pb.admission.v1.admission_service_pb2 import FindAccountResponse
from horde_pb.dispatch.v1 import worker_review_pb2 as dispatch_pb
from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb
from tests.fakes.running_gateway import Gateway, running

KEY = {"apikey": "a" * 22}
JSON = {**KEY, "content-type": "application/json"}
ALL = "/api/v2/operations/moderation"
EVENTS = f"{ALL}/prompts"
HISTORY = f"{ALL}/worker_suspicion_events"
MODERATOR = FindAccountResponse(id=9, username="mod#9", moderator=True)
AT = Timestamp(seconds=1_790_000_000, nanos=120_000_000)
WHEN = "2026-09-21T14:13:20.120000+00:00"
LAST = 2**63 - 1
NULLS = [
    "user_id",
    "username",
    "proxied_account",
    "request_id",
    "worker_id",
    "ipaddr",
    "origin_text",
    "ip_subject_key",
    "submitted_prompt",
    "moderation_prompt",
    "effective_prompt",
    "text_sha256",
    "text_chars",
    "hold_source",
]
FLAGS = ("text_truncated", "text_redacted", "ipaddr_redacted", "anonymized")


@pytest.fixture
def desk(gateway: Gateway) -> Any:
    gateway.desk.answers |= {
        "FindAccount": MODERATOR,
        "ListEvents": pb.ListEventsResponse(),
        "ListSuspicionHistory": pb.ListSuspicionHistoryResponse(),
        "ListAccesses": policy_pb.ListAccessesResponse(),
        "ListPromotions": admission_pb.ListPromotionsResponse(),
        "ListPausedWorkers": dispatch_pb.ListPausedWorkersResponse(),
        "AddNote": pb.AddNoteResponse(note=pb.EventNote(id=7, author_id=9, author="mod#9", note="x", created=AT)),
        "MarkEvent": pb.MarkEventResponse(),
    }
    return gateway.desk


async def test_who_asks_is_checked_before_what_is_asked(gateway: Gateway, desk: Any) -> None:
    wrong = f"{EVENTS}?limit=0"

    async def said(**given: Any) -> tuple[int, str]:
        answer = await gateway.client.get(wrong, **given)
        assert answer.headers["cache-control"] == "private, no-store"
        exposed = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert exposed >= {"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
        return answer.status_code, answer.json()["rc"]

    assert await said() == (400, "MissingAPIKey")
    for account, rc in (
        (Refusal(reasons.INVALID_API_KEY, "No."), (401, "InvalidAPIKey")),
        (FindAccountResponse(moderator=True, deleted=True), (401, "InvalidAPIKey")),
        (FindAccountResponse(), (403, "NotModerator")),
        (MODERATOR, (400, "InvalidOperationsLimit")),
    ):
        desk.answers["FindAccount"] = account
        assert await said(headers=KEY) == rc
    assert {name for name, _ in desk.asked} == {"FindAccount"}


@pytest.mark.usefixtures("desk")
async def test_no_cache_keeps_an_answer_of_a_moderators_address_whatever_it_is(gateway: Gateway) -> None:
    note = {"url": f"{EVENTS}/7/notes", "headers": JSON}
    in_no_calendar = pb.ListEventsResponse(events=[pb.RecordedEvent(created=Timestamp(seconds=2**40))])
    gateway.desk.answers |= {"ListEvents": in_no_calendar, "PreviewRetention": Outage("the preview", "too slow")}
    for sent, status in (
        ({"method": "HEAD", "url": HISTORY, "headers": KEY}, 200),
        ({"method": "DELETE", "url": EVENTS, "headers": KEY}, 405),
        ({"method": "GET", **note}, 405),
        ({"method": "PUT", "url": f"{EVENTS}/0/mark", "json": {"mark": "seen"}, "headers": KEY}, 404),
        ({"method": "POST", **note, "content": b'{"note": "' + b"x" * 33_000 + b'"}'}, 400),
        ({"method": "PUT", "url": f"{EVENTS}/7/mark", "content": b"x", "headers": {**KEY, "content-type": "a/b"}}, 415),
        ({"method": "GET", "url": EVENTS, "headers": KEY}, 500),
        ({"method": "GET", "url": f"{ALL}/retention/preview", "headers": KEY}, 503),
    ):
        answer = await gateway.client.request(**sent)
        assert (answer.status_code, answer.headers.get("cache-control")) == (status, "private, no-store"), sent
        assert "Retry-After" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("query", "rc"),
    [
        ("limit=0&before_id=0", "InvalidOperationsLimit"),
        ("limit=101", "InvalidOperationsLimit"),
        ("limit=ten", "InvalidOperationsLimit"),
        ("before_id=0&event_id=0", "InvalidOperationsCursor"),
        (f"before_id={LAST + 1}", "InvalidOperationsCursor"),
        ("event_id=0&since=x", "InvalidModerationEventID"),
        (f"event_id={LAST + 1}", "InvalidModerationEventID"),
        ("since=2026-01-01T00:00:00&reason=x", "InvalidModerationTimeRange"),
        ("until=yesterday", "InvalidModerationTimeRange"),
        ("since=2026-01-01T00:00:00+00:00", "InvalidModerationTimeRange"),
        ("since=0001-01-01T00:00:00%2B14:00", "InvalidModerationTimeRange"),
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T23:00:00-01:00", "InvalidModerationTimeRange"),
        ("reason=filter_rejection&reason=spam&ipaddr=x", "InvalidModerationReason"),
        ("reason=", "InvalidModerationReason"),
        ("ipaddr=10.0.0.0/8&ip_subject_key=x", "InvalidModerationAddressFilter"),
        ("ipaddr=2001:db8::/63", "InvalidModerationAddressFilter"),
        ("ip_subject_key=&user_id=-1", "InvalidModerationAddressFilter"),
        (f"ip_subject_key={'A' * 64}", "InvalidModerationAddressFilter"),
        ("user_id=-1&worker_id=x", "InvalidUserID"),
        (f"user_id={2**31}", "InvalidUserID"),
        ("worker_id=x", "InvalidWorkerID"),
        (f"proxied_account={'x' * 256}", "InvalidProxiedAccount"),
        ("proxied_account=%00", "InvalidProxiedAccount"),
        ("unmarked=maybe", "InvalidOperationsFilter"),
    ],
)
async def test_the_first_wrong_parameter_is_told(gateway: Gateway, desk: Any, query: str, rc: str) -> None:
    answer = await gateway.client.get(f"{EVENTS}?{query}", headers=KEY)
    assert (answer.status_code, answer.json()["rc"]) == (400, rc)
    assert "ListEvents" not in {name for name, _ in desk.asked}


async def test_filters_reach_moderation_as_they_are_meant(gateway: Gateway, desk: Any) -> None:
    await gateway.client.get(EVENTS, headers=KEY)
    plain = desk.last("ListEvents")
    assert (plain.limit, plain.reviewer.account_id, list(plain.filters)) == (50, 9, [])
    assert not plain.HasField("before_id")
    query = (
        "limit=100&before_id=9&event_id=8&since=2026-01-01T01:00:00%2B01:00&until=2026-01-02T00:00:00Z&reason=worker_csam"
        "&reason=model_rejection&ipaddr=%20::1%20&user_id=0&worker_id=00000000-0000-0000-0000-00000000000A"
        f"&proxied_account=them&ip_subject_key={'a' * 64}&unmarked=true&other=1"
    )
    answer = await gateway.client.get(f"{EVENTS}?{query}", headers=KEY)
    assert answer.status_code == 200
    asked = desk.last("ListEvents")
    assert (asked.limit, asked.before_id, asked.event_id, asked.user_id) == (100, 9, 8, 0)
    assert (asked.since.seconds, asked.until.seconds) == (1_767_225_600, 1_767_312_000)
    assert (list(asked.reasons), asked.address) == (["worker_csam", "model_rejection"], "::1")
    assert asked.worker_id == "00000000-0000-0000-0000-00000000000a"
    assert (asked.unmarked, asked.proxied_account, "user_id" in asked.filters) == (True, "them", True)
    await gateway.client.get(f"{EVENTS}?ipaddr=%20&proxied_account=", headers=KEY)
    blank = desk.last("ListEvents")
    assert (blank.address, blank.HasField("proxied_account")) == ("", False)


async def test_an_event_is_told_with_exactly_these_keys(gateway: Gateway, desk: Any) -> None:
    note = pb.EventNote(id=7, author_id=9, author="mod#9", note="seen", created=AT)
    event = pb.RecordedEvent(
        id=812, created=AT, reason="model_rejection", outcome="rejected", models=["m"], notes=[note]
    )
    event.text_state = "stored"
    event.text_url = "https://x/evidence/812.json"
    desk.answers["ListEvents"] = pb.ListEventsResponse(
        events=[event],
        next_cursor=812,
        retention=policy_pb.GetRetentionPolicyResponse(ipaddr_days=30, ceiling_days=365),
    )
    told = (await gateway.client.get(EVENTS, headers=KEY)).json()
    assert told["next_cursor"] == 812
    assert told["retention"] == {"text_days": None, "ipaddr_days": 30, "ceiling_days": 365}
    (one,) = told["events"]
    assert one == {
        "id": 812,
        "created": WHEN,
        "reason": "model_rejection",
        "outcome": "rejected",
        "models": ["m"],
        "text_state": "stored",
        "text_url": "https://x/evidence/812.json",
        **dict.fromkeys(NULLS),
        **dict.fromkeys(FLAGS, False),
        "notes": [
            {"id": 7, "note": "seen", "created": WHEN, "author_id": 9, "reviewer": {"id": 9, "username": "mod#9"}}
        ],
        "marks": [],
    }


@pytest.mark.parametrize(
    "sent",
    [
        {"json": {}},
        {"json": {"note": ""}},
        {"json": {"note": " \n"}},
        {"json": {"note": "x" * 2001}},
        {"json": {"note": "x" * 20_000}},
        {"json": {"note": "x" * 40_000}},
        {"json": {"note": "a\0b"}},
        {"json": {"note": 5}},
        {"json": ["note"]},
        {"content": b'{"note": "\\ud800"}', "headers": JSON},
        {"content": b"note", "headers": JSON},
        {"content": b"", "headers": JSON},
        {"data": {"note": "a form"}},
        {"content": b'{"note": "x", "note": "y"}', "headers": JSON},
    ],
)
async def test_what_is_no_note(gateway: Gateway, desk: Any, sent: dict[str, Any]) -> None:
    answer = await gateway.client.post(f"{EVENTS}/7/notes", **{"headers": KEY, **sent})
    assert (answer.status_code, answer.json()["rc"]) == (400, "InvalidModerationNote")
    assert "AddNote" not in {name for name, _ in desk.asked}


async def test_a_note_is_answered_with_201_and_its_event(gateway: Gateway, desk: Any) -> None:
    note = "\U0001f600" * 2000
    escaped = json.dumps({"note": note, "author_id": 1})  # six letters for each half of a character
    answer = await gateway.client.post(f"{EVENTS}/812/notes", content=escaped, headers=JSON)
    assert answer.status_code == 201
    assert answer.json() == {
        "id": 7,
        "event_id": 812,
        "note": "x",
        "created": WHEN,
        "author_id": 9,
        "reviewer": {"id": 9, "username": "mod#9"},
    }
    asked = desk.last("AddNote")
    assert (asked.event_id, asked.note, asked.reviewer.account_id) == (812, note, 9)
    for unknown in ("0", str(LAST + 1), "x"):
        answer = await gateway.client.post(f"{EVENTS}/{unknown}/notes", json={"note": "x"}, headers=KEY)
        assert (answer.status_code, answer.json()["rc"]) == (404, "ModerationEventNotFound")
    await gateway.client.put(f"{EVENTS}/812/mark", json={"mark": "none"}, headers=KEY)
    assert desk.last("MarkEvent").mark == ""
    answer = await gateway.client.put(f"{EVENTS}/812/mark", json={"mark": "x"}, headers=KEY)
    assert answer.json()["rc"] == "InvalidModerationMark"


async def test_the_history_and_the_access_log(gateway: Gateway, desk: Any) -> None:
    event = pb.SuspicionEvent(id=3, created=AT, worker_id="w", worker_name="n", user_id=1, suspicion_id=5, detail="why")
    left = pb.SuspicionEvent(id=2, created=AT, suspicion_id=77)
    desk.answers["ListSuspicionHistory"] = pb.ListSuspicionHistoryResponse(events=[event, left], next_cursor=2)
    told = (await gateway.client.get(HISTORY, headers=KEY)).json()
    assert told["next_cursor"] == 2
    assert [one["reason"] for one in told["events"]] == ["UNREASONABLY_FAST", None]
    assert set(told["events"][0]) == {
        "id",
        "created",
        "worker_id",
        "worker_name",
        "user_id",
        "suspicion_id",
        "reason",
        "detail",
    }
    assert desk.last("ListSuspicionHistory").limit == 100
    for query, rc in (("limit=501", "InvalidOperationsLimit"), ("worker_id=x", "InvalidWorkerID")):
        assert (await gateway.client.get(f"{HISTORY}?{query}", headers=KEY)).json()["rc"] == rc
    assert (await gateway.client.get(f"{ALL}/access_log?event_id=5", headers=KEY)).json() == {
        "accesses": [],
        "next_cursor": None,
    }
    assert desk.last("ListAccesses").event_id == 5


async def test_the_queues_stand_side_by_side(gateway: Gateway, desk: Any) -> None:
    row = accounts_pb.PromotionRow(
        user_id=31, username="a#31", created=AT, last_active=AT, evaluating_hundredths=6_000_050
    )
    row.suspicions.add(id=5, count=5)
    row.suspicions.add(id=77, count=1)
    desk.answers["ListPromotions"] = admission_pb.ListPromotionsResponse(
        threshold_hundredths=5_000_000, suspicion_threshold=5, blocked=[row]
    )
    worker = dispatch_pb.PausedWorker(
        id="w", name="n", type="text", owner_id=31, owner="a#31", last_check_in=AT, created=AT
    )
    desk.answers["ListPausedWorkers"] = dispatch_pb.ListPausedWorkersResponse(
        workers=[worker], total=12, suspicion_threshold=5
    )
    query = "limit=500&worker_type=text&worker_type=image&suspicion_id=5&suspicion_id=9&online=false&sort=owner"
    told = (await gateway.client.get(f"{ALL}?{query}", headers=KEY)).json()
    assert (told["promotion_threshold"], told["suspicion_threshold"], told["paused_workers_total"]) == (50_000, 5, 12)
    assert told["promotion_eligible_users"] == []
    (blocked,) = told["promotion_blocked_users"]
    assert (blocked["user_id"], blocked["evaluating_kudos"], blocked["suspicion_total"]) == (31, 60_000.5, 6)
    assert blocked["suspicions"] == [
        {"id": 5, "name": "UNREASONABLY_FAST", "description": "Generation unreasonably fast", "count": 5},
        {"id": 77, "name": "UNKNOWN_77", "description": "", "count": 1},
    ]
    (paused,) = told["paused_workers"]
    assert (paused["worker_type"], paused["owner"], paused["owner_details"]["user_id"]) == ("text", "a#31", 31)
    asked = desk.last("ListPausedWorkers")
    assert (asked.limit, list(asked.types), list(asked.suspicion_ids)) == (500, ["text", "image"], [5, 9])
    assert (asked.HasField("online"), asked.online, asked.sort) == (True, False, dispatch_pb.PAUSED_WORKER_SORT_OWNER)
    for query, rc in (
        ("limit=501", "InvalidOperationsLimit"),
        ("worker_type=audio", "InvalidWorkerType"),
        ("suspicion_id=10", "InvalidSuspicionID"),
        ("suspicion_id=x", "InvalidSuspicionID"),
        ("online=perhaps", "InvalidOperationsFilter"),
        ("sort=", "InvalidOperationsSort"),
    ):
        answer = await gateway.client.get(f"{ALL}?{query}", headers=KEY)
        assert (answer.status_code, answer.json()["rc"]) == (400, rc)


@pytest.mark.usefixtures("desk")
async def test_without_a_threshold_the_lists_are_empty_and_it_is_null(gateway: Gateway) -> None:
    told = (await gateway.client.get(ALL, headers=KEY)).json()
    assert told["promotion_threshold"] is None
    assert told["promotion_blocked_users"] == told["promotion_eligible_users"] == []


async def test_limits_count_each_key_method_and_endpoint_by_itself() -> None:
    async with running(rate_limits_enabled=True) as gateway:
        gateway.desk.answers |= {"FindAccount": MODERATOR, "ListSuspicionHistory": pb.ListSuspicionHistoryResponse()}
        gateway.desk.answers["AddNote"] = Refusal(reasons.MODERATION_EVENT_NOT_FOUND, "No.")
        for event in range(1, 31):
            answer = await gateway.client.post(f"{EVENTS}/{event}/notes", json={"note": "x"}, headers=KEY)
            assert answer.status_code == 404
        answer = await gateway.client.post(f"{EVENTS}/99/notes", json={"note": "x"}, headers=KEY)
        assert answer.status_code == 429
        assert answer.headers["cache-control"] == "private, no-store"
        assert {"retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(answer.headers)
        assert (await gateway.client.post(f"{EVENTS}/1/notes", json={"note": "x"})).status_code == 400
        for _ in range(120):
            answer = await gateway.client.get(HISTORY, headers=KEY)
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, "0")
        assert (await gateway.client.get(HISTORY, headers=KEY)).status_code == 429
        assert (await gateway.client.get(HISTORY, headers={"apikey": "b" * 22})).status_code == 200
