"""What the native API answers to whom: rows of base-domain 1, 2, 4.12, 4.13 and 9 that leave the horde as it is.

`who` is a name of the cast, "nobody" for an unknown key, None for no key. In paths and bodies `{alice}` is an account's
id, `{alice's worker}` a worker's, `{alice's key}` a shared key, `{message}` a worker message, `{request}` one of bob's.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One call and what comes of it: the status, and the return code or the names of the wrong arguments."""

    who: str | None
    call: str
    body: Any
    status: int
    rc: str | None = None
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.who} {self.call} {str(self.body)[:60]}"


def refused(who: str | None, call: str, body: Any, status: int, rc: str) -> Row:
    return Row(who, call, body, status, rc)


def invalid(who: str | None, call: str, body: Any, *wrong: str) -> Row:
    """400 with `errors` under these names."""
    return Row(who, call, body, 400, "BadRequest", wrong)


NEEDS_A_KEY: tuple[tuple[str, Any], ...] = (
    ("POST generate/text/async", {"prompt": "x"}),
    ("POST generate/chat/async", {"model": "m", "messages": [{"role": "user", "content": "x"}]}),
    ("POST generate/text/pop", {"name": "w", "models": ["some/model"]}),
    ("POST generate/text/submit", {"id": "x", "generation": "x"}),
    ("GET generate/text/request/{request}", None),
    ("GET find_user", None),
    ("PUT users/{bob}", {"public_workers": True}),
    ("DELETE users/{bob}", None),
    ("GET users/{bob}/usage", None),
    ("PUT sharedkeys", {}),
    ("PATCH sharedkeys/{alice's key}", {"kudos": 5}),
    ("DELETE sharedkeys/{alice's key}", None),
    ("POST kudos/transfer", {"username": "x#1"}),
    ("POST kudos/award", {"username": "x#1"}),
    ("PUT workers/{alice's worker}", {"maintenance": True}),
    ("DELETE workers/{alice's worker}", None),
    ("GET workers/messages", None),
    ("POST workers/messages", {"message": "x"}),
    ("DELETE workers/messages/{message}", None),
    ("PUT status/modes", {"raid_mode": True}),
    ("GET operations/ipaddr", None),
    ("POST operations/ipaddr", {"ipaddr": "203.0.113.1", "hours": 1}),
    ("DELETE operations/ipaddr", {"ipaddr": "203.0.113.1"}),
    ("GET operations/ipaddr/203.0.113.1", None),
    ("PUT operations/block_worker_ipaddr/{alice's worker}", {"days": 1}),
    ("DELETE operations/block_worker_ipaddr/{alice's worker}", None),
    ("GET filters", None),
    ("PUT filters", {"regex": "x", "filter_type": 10}),
    ("POST filters", {"prompt": "x"}),
)
"""Without a key 400 and its name; with nobody's key 401 (decision 13)."""

FOR_MODERATORS = tuple(
    call for call in NEEDS_A_KEY if call[0].split()[1].partition("/")[0] in {"operations", "filters"}
)

MISSING_KEY = [invalid(None, call, body, "apikey") for call, body in NEEDS_A_KEY]
UNKNOWN_KEY = [
    refused("nobody", call, body, 401, "InvalidAPIKey")
    for call, body in NEEDS_A_KEY
    if call != "POST generate/text/submit"  # the job is looked for first, 5.2
]
UNKNOWN_KEY += [
    refused("nobody", f"GET {path}", None, 401, "InvalidAPIKey")
    for path in ("users/{bob}", "workers", "workers/{alice's worker}", "workers/name/alice's worker", "status/modes")
]
NO_MODERATOR = [refused("alice", call, body, 403, "NotModerator") for call, body in FOR_MODERATORS]

ACCOUNTS = [
    refused(None, "GET users/4711", None, 404, "UserNotFound"),
    refused(None, "GET users/abc", None, 404, "UserNotFound"),
    refused(None, "GET users/-1", None, 404, "UserNotFound"),
    invalid(None, "GET users?sort=x", None, "sort"),
    invalid(None, "GET users?page=x", None, "page"),
    refused("bob", "PUT users/{bob}", {}, 400, "NoUserModSelected"),
    refused("bob", "PUT users/{bob}", {"unknown": 1}, 400, "NoUserModSelected"),
    invalid("bob", "PUT users/{bob}", {"username": "ab"}, "username"),
    refused("bob", "PUT users/{bob}", {"username": "b" * 31}, 400, "TooLongUserName"),
    refused("bob", "PUT users/{bob}", {"username": "fuck"}, 400, "ProfaneUserName"),
    invalid("bob", "PUT users/{bob}", {"contact": "abcd"}, "contact"),
    refused("bob", "PUT users/{bob}", {"contact": "fuck you all"}, 400, "ProfaneUserContact"),
    refused("bob", "PUT users/{bob}", {"generate_proxy_passkey": True}, 403, "NonServiceForbidden"),
    refused("bob", "PUT users/{bob}", {"undelete": True}, 400, "UserNotDeleted"),
    refused("alice", "PUT users/{bob}", {"public_workers": True}, 403, "NotPrivileged"),
    refused("alice", "PUT users/{bob}", {"trusted": True}, 403, "NotModerator"),
    refused("mod", "PUT users/{bob}", {"kudos": 5}, 403, "NotAdmin"),
    refused("mod", "PUT users/{bob}", {"admin_comment": "fuck"}, 400, "ProfaneAdminComment"),
    invalid("mod", "PUT users/{bob}", {"concurrency": 501}, "concurrency"),
    invalid("boss", "PUT users/{bob}", {"usage_multiplier": 10.1}, "usage_multiplier"),
    invalid("boss", "PUT users/{bob}", {"kudos": "5", "trusted": 1}, "kudos", "trusted"),
    refused("mod", "PUT users/4711", {"trusted": True}, 404, "UserNotFound"),
    refused("mod", "PUT users/0", {"trusted": True}, 403, "AnonForbiddenUserMod"),
    refused("anonymous", "PUT users/0", {"public_workers": True}, 403, "AnonForbiddenUserMod"),
    refused("alice", "DELETE users/{bob}", None, 403, "NotUserOrMod"),
    refused("mod", "DELETE users/{mod}", None, 403, "CannotDeleteMod"),
    refused("alice", "GET users/{bob}/usage", None, 403, "NotPrivileged"),
    refused("anonymous", "PUT sharedkeys", {}, 403, "AnonForbidden"),
    invalid("bob", "PUT sharedkeys", {"kudos": -2}, "kudos"),
    invalid("bob", "PUT sharedkeys", {"kudos": 50_000_001}, "kudos"),
    invalid("bob", "PUT sharedkeys", {"name": "ab", "max_text_tokens": 501}, "name", "max_text_tokens"),
    invalid(
        "bob",
        "PUT sharedkeys",
        {"max_image_pixels": 4_194_305, "max_image_steps": -2},
        "max_image_pixels",
        "max_image_steps",
    ),
    refused("bob", "PATCH sharedkeys/{alice's key}", {"kudos": 5}, 403, "Forbidden"),
    refused("mod", "DELETE sharedkeys/{alice's key}", None, 403, "Forbidden"),
    refused("alice", "PATCH sharedkeys/{alice's key}", {}, 400, "NoSharedKeyModSelected"),
    refused(None, "GET sharedkeys/nothing", None, 401, "InvalidAPIKey"),
    refused("bob", "DELETE sharedkeys/00000000-0000-4000-8000-000000000000", None, 401, "InvalidAPIKey"),
    refused("anonymous", "POST kudos/transfer", {"username": "x#{bob}"}, 400, "KudosTransferFromAnon"),
    refused("alice", "POST kudos/transfer", {"username": "nobody"}, 400, "InvalidTargetUsername"),
    refused("alice", "POST kudos/transfer", {"username": "x#0"}, 400, "KudosTransferToAnon"),
    refused("alice", "POST kudos/transfer", {"username": "x#{alice}"}, 400, "KudosTransferToSelf"),
    refused("alice", "POST kudos/transfer", {"username": "x#{flagged}"}, 400, "TargetAccountFlagged"),
    refused("flagged", "POST kudos/transfer", {"username": "x#{bob}"}, 400, "SourceAccountFlagged"),
    refused("alice", "POST kudos/transfer", {"username": "x#{bob}", "amount": -1}, 400, "NegativeKudosTransfer"),
    refused("alice", "POST kudos/transfer", {"username": "x#{bob}", "amount": 0}, 400, "InvalidKudosTransferAmount"),
    refused("alice", "POST kudos/transfer", {"username": "x#{bob}", "amount": 10**9}, 400, "KudosTransferNotEnough"),
    invalid("alice", "POST kudos/transfer", {}, "username"),
    invalid("alice", "POST kudos/transfer", {"username": "x#{bob}", "amount": "5"}, "amount"),
    refused("mod", "POST kudos/award", {"username": "x#{bob}"}, 403, "NotPrivileged"),
    refused("alice", "GET generate/text/request/{request}", None, 403, "NotRequestOwner"),
    refused("anonymous", "GET generate/text/request/{request}", None, 403, "AnonForbidden"),
]
WORKERS = [
    refused(None, "GET workers/nothing", None, 404, "WorkerNotFound"),
    refused(None, "GET workers/name/nothing", None, 404, "WorkerNotFound"),
    invalid(None, "GET workers?type=x", None, "type"),
    refused("bob", "PUT workers/{alice's worker}", {"maintenance": True}, 403, "NotOwner"),
    refused("bob", "DELETE workers/{alice's worker}", None, 403, "NotModerator"),
    refused("alice", "PUT workers/{alice's worker}", {}, 400, "NoWorkerModSelected"),
    refused("alice", "PUT workers/{alice's worker}", {"paused": True}, 403, "NotModerator"),
    invalid("alice", "PUT workers/{alice's worker}", {"maintenance": "yes"}, "maintenance"),
    invalid("alice", "PUT workers/{alice's worker}", {"name": "abcd"}, "name"),
    refused("alice", "PUT workers/{alice's worker}", {"name": "x" * 101}, 400, "TooLongWorkerName"),
    refused("alice", "PUT workers/{alice's worker}", {"name": "fuck this"}, 400, "ProfaneWorkerName"),
    refused("alice", "PUT workers/{alice's worker}", {"info": "x" * 1001}, 400, "TooLongWorkerName"),
    refused("alice", "PUT workers/{alice's worker}", {"info": "fuck"}, 400, "ProfaneWorkerInfo"),
    refused("alice", "PUT workers/{alice's worker}", {"info": "a\0b"}, 400, "NulByteInPayload"),
    refused("mod", "PUT workers/nothing", {"info": "x"}, 404, "WorkerNotFound"),
    refused("mod", "DELETE workers/nothing", None, 404, "WorkerNotFound"),
    refused("alice", "GET workers/messages?validity=x", None, 400, "BadRequest"),
    refused("alice", "POST workers/messages", {"message": "to all"}, 403, "MessagesOnlyOwnWorkers"),
    refused(
        "bob", "POST workers/messages", {"worker_id": "{alice's worker}", "message": "x"}, 403, "MessagesOnlyOwnWorkers"
    ),
    invalid("alice", "POST workers/messages", {"worker_id": "{alice's worker}"}, "message"),
    invalid("alice", "POST workers/messages", {"worker_id": "{alice's worker}", "message": "x" * 10_241}, "message"),
    invalid(
        "alice", "POST workers/messages", {"worker_id": "{alice's worker}", "message": "x", "expiry": 721}, "expiry"
    ),
    refused(None, "GET workers/messages/nothing", None, 404, "WorkermessageNotFound"),
    refused("bob", "DELETE workers/messages/{message}", None, 403, "Forbidden"),
    refused("anonymous", "POST generate/text/pop", {"name": "w", "models": ["some/model"]}, 403, "AnonForbiddenWorker"),
    refused(
        "flagged", "POST generate/text/pop", {"name": "w", "models": ["some/model"]}, 403, "WorkerFlaggedMaintenance"
    ),
    refused(
        "bob", "POST generate/text/pop", {"name": "alice's worker", "models": ["some/model"]}, 403, "WrongCredentials"
    ),
    refused("bob", "POST generate/text/pop", {"name": "my colab", "models": ["some/model"]}, 400, "BadRequest"),
    refused("bob", "POST generate/text/pop", {"name": "w"}, 400, "BadRequest"),
]
STATUS = [
    refused("alice", "GET status/modes", None, 403, "NotModerator"),
    refused("anonymous", "GET status/modes", None, 403, "NotModerator"),
    refused("alice", "PUT status/modes", {"raid_mode": True}, 403, "NotModerator"),
    refused("mod", "PUT status/modes", {"maintenance_mode": True}, 403, "NotAdmin"),
    refused("mod", "PUT status/modes", {}, 400, "NoHordeModSelected"),
    invalid("mod", "PUT status/modes", {"raid_mode": "x"}, "raid_mode"),
    invalid(None, "GET status/models?type=x", None, "type"),
    invalid(None, "GET status/models?type=text&model_state=x", None, "model_state"),
    Row(None, "GET status/models/nothing", None, 404),
    refused(None, "GET documents/terms?format=pdf", None, 400, "BadRequest"),
    refused(
        "nobody", "GET operations/ipaddr/no-address", None, 400, "BadRequest"
    ),  # validity is checked before the key
    refused("mod", "POST operations/ipaddr", {"ipaddr": "999.1.1.1", "hours": 1}, 400, "BadRequest"),
    refused("mod", "POST operations/ipaddr", {"ipaddr": "1.2.3.4/24", "hours": 1}, 400, "BadRequest"),
    refused("mod", "POST operations/ipaddr", {"ipaddr": "1.2.3.0/99", "hours": 1}, 400, "BadRequest"),
    invalid("mod", "POST operations/ipaddr", {"ipaddr": "1.2.3", "hours": 0}, "ipaddr", "hours"),
    invalid("mod", "POST operations/ipaddr", {"ipaddr": "x" * 41, "hours": 721}, "ipaddr", "hours"),
    invalid("mod", "DELETE operations/ipaddr", {}, "ipaddr"),
    refused("mod", "PUT operations/block_worker_ipaddr/nothing", {"days": 1}, 404, "WorkerNotFound"),
    invalid("mod", "PUT operations/block_worker_ipaddr/{alice's worker}", {"days": 31}, "days"),
    refused("mod", "PUT filters", {"regex": "x(", "filter_type": 10}, 400, "BadRequest"),
    invalid("mod", "PUT filters", {"filter_type": 30}, "regex", "filter_type"),
    refused("mod", "GET filters/4711", None, 404, "FilterNotFound"),
    Row(None, "GET nothing", None, 404),
    Row(None, "POST status/heartbeat", {}, 405),
]
REQUESTS = [
    invalid("bob", "POST generate/text/async", {}, "prompt"),
    invalid(
        "bob", "POST generate/text/async", {"prompt": "x", "params": {"n": 0, "top_k": 201}}, "params.n", "params.top_k"
    ),
    invalid("bob", "POST generate/text/async", [], ""),
    refused("bob", "POST generate/text/async", {"prompt": ""}, 400, "MissingPrompt"),
    refused("bob", "POST generate/text/async", {"prompt": "a\0b"}, 400, "NulByteInPayload"),
    refused("bob", "POST generate/text/async", {"prompt": "x", "proxied_account": "y"}, 400, "OnlyServiceAccountProxy"),
    refused("bob", "POST generate/text/async", {"prompt": "x", "webhook": "http://x.example"}, 400, "BadRequest"),
    refused("bob", "POST generate/text/async", {"prompt": "x", "workers": ["nothing"]}, 404, "WorkerNotFound"),
    refused("bob", "POST generate/text/async", {"prompt": "x", "style": "nothing"}, 404, "StyleNotFound"),
    refused(
        "bob",
        "POST generate/text/async",
        {"prompt": "x", "disable_batching": True, "params": {"n": 2}},
        400,
        "RequiresTrust",
    ),
    refused(None, "GET generate/text/status/nothing", None, 404, "RequestNotFound"),
    refused(None, "DELETE generate/text/status/nothing", None, 404, "RequestNotFound"),
    refused(None, "GET generate/chat/status/{request}", None, 404, "RequestNotFound"),
    refused("alice", "POST generate/text/submit", {"id": "nothing", "generation": "x"}, 404, "InvalidJobID"),
    invalid("alice", "POST generate/text/submit", {"id": "nothing"}, "generation"),
    invalid("alice", "POST generate/text/submit", {"id": "nothing", "generation": "x", "state": "y"}, "state"),
]
ROWS = [*MISSING_KEY, *UNKNOWN_KEY, *NO_MODERATOR, *ACCOUNTS, *WORKERS, *STATUS, *REQUESTS]
