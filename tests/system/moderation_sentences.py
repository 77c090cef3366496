"""What the moderators' API says to wrong and to right arguments: rows of moderation.md A8.

None of them changes anything. `{event}` is the id of an event.
"""

from typing import Any

from tests.system.native_sentences import Row, refused

REVIEW = "operations/moderation"


def wrong(query: str, rc: str, path: str = "/prompts") -> Row:
    return refused("mod", f"GET {REVIEW}{path}?{query}", None, 400, rc)


def right(query: str, path: str = "/prompts") -> Row:
    return Row("mod", f"GET {REVIEW}{path}?{query}", None, 200)


ENDPOINTS: tuple[tuple[str, Any], ...] = (
    (f"GET {REVIEW}?limit=0", None),
    (f"GET {REVIEW}/prompts?limit=0", None),
    (f"GET {REVIEW}/worker_suspicion_events?limit=0", None),
    (f"POST {REVIEW}/prompts/{{event}}/notes", {}),
)
"""Each with an argument that is wrong, too: who may not ask learns nothing of that (A8.1)."""

CALLERS = [
    refused(who, call, body, status, rc)
    for call, body in ENDPOINTS
    for who, status, rc in (
        (None, 400, "MissingAPIKey"),
        ("nobody", 401, "InvalidAPIKey"),
        ("alice", 403, "NotModerator"),
        ("anonymous", 403, "NotModerator"),
    )
]
PAGES = [
    *[wrong(f"limit={value}", "InvalidOperationsLimit") for value in ("0", "101", "-1", "x", "", "1.0", "%2B5")],
    *[wrong(f"before_id={value}", "InvalidOperationsCursor") for value in ("0", "-1", "x", 2**63)],
    *[right(query) for query in ("limit=1", "limit=100", f"before_id={2**63 - 1}", "unknown=x")],
]
FILTERS = [
    *[wrong(f"event_id={value}", "InvalidModerationEventID") for value in ("0", "-1", "x", 2**63)],
    *[
        wrong(query, "InvalidModerationTimeRange")
        for query in (
            "since=2026-01-01T00:00:00",
            "since=2026-01-01",
            "until=x",
            "since=2026-01-01T00:00:00+00:00",  # the plus arrives as a space
            "since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z",
            "since=2026-01-01T02:00:00%2B02:00&until=2026-01-01T00:00:00Z",
        )
    ],
    *[wrong(query, "InvalidModerationReason") for query in ("reason=x", "reason=", "reason=worker_csam&reason=x")],
    *[
        wrong(f"ipaddr={value}", "InvalidModerationAddressFilter")
        for value in ("x", "1.2.3.0/24", "1.2.3.4/32", "2001:db8::/63", "1.2.3.4:80", "01.2.3.4")
    ],
    *[
        wrong(f"ip_subject_key={value}", "InvalidModerationAddressFilter")
        for value in ("", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "%0A")
    ],
    *[wrong(f"user_id={value}", "InvalidUserID") for value in ("x", "-1", 2**31)],
    wrong("worker_id=x", "InvalidWorkerID"),
    wrong(f"proxied_account={'a' * 256}", "InvalidProxiedAccount"),
    *[
        right(query)
        for query in (
            "event_id=4711",
            f"event_id={2**63 - 1}",
            "since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:01Z",
            "since=2026-01-01T00:00:00.5%2B05:30",
            "reason=worker_csam&reason=model_rejection&reason=filter_rejection",
            "ipaddr=",
            "ipaddr=%20",
            "ipaddr=2001:db8::/64",
            "ipaddr=2001:db8::5/80",
            "ipaddr=::ffff:1.2.3.4",
            f"ip_subject_key={'a' * 64}",
            "user_id=0",
            f"user_id={2**31 - 1}",
            "worker_id=00000000-0000-4000-8000-000000000000",
            f"proxied_account={'a' * 255}",
            "proxied_account=",
        )
    ],
]
FIRST_ERROR = [
    wrong("before_id=0&limit=0", "InvalidOperationsLimit"),
    wrong("event_id=0&before_id=0", "InvalidOperationsCursor"),
    wrong("since=x&event_id=0", "InvalidModerationEventID"),
    wrong("reason=x&since=x", "InvalidModerationTimeRange"),
    wrong("ipaddr=x&reason=x", "InvalidModerationReason"),
    wrong("user_id=x&ip_subject_key=x", "InvalidModerationAddressFilter"),
]
"""The order of A8.1, whatever the order of the query."""

NO_NOTES: tuple[Any, ...] = (
    {},
    {"note": None},
    {"note": 5},
    {"note": ["x"]},
    {"note": ""},
    {"note": " \n\t"},
    {"note": "\u00a0"},
    {"note": "x" * 2001},
    {"note": "😀" * 2001},
    {"note": "a\0b"},
    [],
    "x",
)
NOTES = [
    *[
        refused("mod", f"POST {REVIEW}/prompts/{{event}}/notes", body, 400, "InvalidModerationNote")
        for body in NO_NOTES
    ],
    refused("mod", f"POST {REVIEW}/prompts/4711/notes", {}, 400, "InvalidModerationNote"),
    *[
        refused("mod", f"POST {REVIEW}/prompts/{event}/notes", {"note": "x"}, 404, "ModerationEventNotFound")
        for event in (4711, 0, 2**63)
    ],
]
QUEUES = [
    *[wrong(f"limit={value}", "InvalidOperationsLimit", "") for value in ("0", "501", "x")],
    *[wrong(f"suspicion_id={value}", "InvalidSuspicionID", "") for value in ("99", "x")],
    wrong("worker_type=x", "InvalidWorkerType", ""),
    wrong("online=maybe", "InvalidOperationsFilter", ""),
    wrong("sort=x", "InvalidOperationsSort", ""),
    *[right(f"sort={value}", "") for value in ("last_check_in", "suspicion", "name", "owner")],
    right("limit=500&worker_type=image&worker_type=text&suspicion_id=0&suspicion_id=9&online=true", ""),
]
HISTORY = [
    *[
        wrong(query, rc, "/worker_suspicion_events")
        for query, rc in (
            ("limit=0", "InvalidOperationsLimit"),
            ("limit=501", "InvalidOperationsLimit"),
            ("before_id=0", "InvalidOperationsCursor"),
            ("worker_id=x", "InvalidWorkerID"),
            ("user_id=x", "InvalidUserID"),
        )
    ],
    right("limit=500&user_id=3&before_id=1", "/worker_suspicion_events"),
]
ROWS = [*CALLERS, *PAGES, *FILTERS, *FIRST_ERROR, *NOTES, *QUEUES, *HISTORY]
