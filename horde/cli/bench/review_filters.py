"""What moderators ask of the tables that `Evidence` fills: every filter by itself, and those used together."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from horde.cli.bench.evidence import key, subject

type Query = Sequence[tuple[str, str | int]]

_WORKER, _SELDOM_WORKER = f"{0:032x}", f"{199:032x}"
_REASONS: Final[Mapping[str, str]] = {"rare": "worker_csam", "common": "model_rejection"}
_EVERY_REASON: Final[Query] = [("reason", name) for name in ("worker_csam", "filter_rejection", "model_rejection")]


def event_filters(newest: int, secret_key: str) -> dict[str, Query]:
    """What may be asked of the events up to `newest`, by name: the first page, and two far down."""
    times, subjects = _times(), _subjects(secret_key)
    whole: dict[str, Query] = {"nothing": [], "all reasons": _EVERY_REASON, **times}
    for name, reason in _REASONS.items():
        whole[f"{name} reason"] = [("reason", reason)]
        whole |= {f"{name} reason, {time}": [("reason", reason), *query] for time, query in times.items()}
    whole |= {f"{name}, unmarked": [*query, ("unmarked", "true")] for name, query in whole.items()}
    whole |= {
        f"{name}{more}": [*of, *query] for name, of in subjects.items() for more, query in _narrower(times).items()
    }
    whole["busy account, busy pseudonym"] = [*subjects["busy account"], *subjects["busy pseudonym"]]
    whole["anonymous, busy worker"] = [*subjects["anonymous"], *subjects["busy worker"]]
    deep = {
        f"{name}, {how} down": [*query, ("before_id", at)]
        for name, query in whole.items()
        for how, at in (("a tenth", newest - newest // 10), ("nine tenths", max(newest // 10, 1)))
    }
    return {"one event": [("event_id", max(newest // 2, 1))], **whole, **deep}


def _moment(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def _times() -> dict[str, Query]:
    return {
        "newest day": [("since", _moment(1))],
        "one old hour": [("since", _moment(200)), ("until", _moment(199.96))],
        "one old day": [("since", _moment(200)), ("until", _moment(199))],
        "all year": [("since", _moment(360))],
        "the first month": [("until", _moment(330))],
    }


def _subjects(secret_key: str) -> dict[str, Query]:
    return {
        "anonymous": [("user_id", 0)],
        "busy account": [("user_id", 1_000_000)],
        "quiet account": [("user_id", 1_049_990)],
        "busy proxied account": [("proxied_account", "person 0")],
        "quiet proxied account": [("proxied_account", "person 1990")],
        "busy worker": [("worker_id", _WORKER)],
        "quiet worker": [("worker_id", _SELDOM_WORKER)],
        "busy pseudonym": [("ip_subject_key", key(subject(0), secret_key))],
        "quiet pseudonym": [("ip_subject_key", key(subject(19_990), secret_key))],
        "busy address": [("ipaddr", subject(0))],
        "unknown address": [("ipaddr", "203.0.113.7")],
    }


def _narrower(times: Mapping[str, Query]) -> dict[str, Query]:
    return {
        "": [],
        **{f", {name} reason": [("reason", reason)] for name, reason in _REASONS.items()},
        **{f", {name}": times[name] for name in ("newest day", "one old day", "all year")},
        ", rare reason, one old day": [("reason", _REASONS["rare"]), *times["one old day"]],
        ", unmarked": [("unmarked", "true")],
    }


def other_lists(newest: int) -> dict[str, tuple[str, Query]]:
    """The other lists of moderators: a path and what is asked of it, by name."""
    of_event = ("event_id", max(newest // 2, 1))
    asked: dict[str, tuple[str, Sequence[Query]]] = {
        "suspicions": (
            "/worker_suspicion_events",
            [[], [("worker_id", _WORKER)], [("user_id", 1_000_003)], [("before_id", 1000)]],
        ),
        "access log": ("/access_log", [[], [("moderator_id", 1_000_001)], [of_event], [("before_id", 1000)]]),
        "queues": (
            "",
            [
                [],
                [("limit", 500)],
                [("worker_type", "text"), ("suspicion_id", 3)],
                [("online", "true")],
                *([("sort", by)] for by in ("suspicion", "name", "owner")),
            ],
        ),
        "preview": (
            "/retention/preview",
            [[], [("text_days", 30)], [("text_days", 1), ("ipaddr_days", 1), ("ceiling_days", 60)]],
        ),
    }
    return {
        f"{name} {urlencode(query)}".rstrip(): (path, query)
        for name, (path, queries) in asked.items()
        for query in queries
    }
